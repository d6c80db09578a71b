// Registrations: registrations of region servers that are in progress, and the greatest start code of each address (S5:
// rising start code; S69: lock-grant order decides). RegisterServer makes a registration durable.
//
// A server is a member before its registration ends, so at each moment one of Membership and Registrations knows it.
// To see both, look here first. Owned by MasterLogic. Thread-safe; holds no lock while it calls Membership.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class Membership;

// Result of the admission of a new incarnation of a server.
struct Admission {
  bool known = false;             // already online: needs no record
  std::vector<ServerName> older;  // online servers at its address, which it replaces
};

class Registrations {
 public:
  Registrations(const Clock& clock, Membership& members) : clock_(clock), members_(members) {}

  // Begins the registration of a server. kFailedPrecondition with YouAreDeadException for a start code that is not
  // above the greatest one known for this address; PleaseHoldException while its registration is in progress.
  [[nodiscard]] Result<Admission> Admit(const ServerName& server);
  // Returns true if the server is a member, or its registration waits for its locks.
  [[nodiscard]] bool IsKnown(const ServerName& server) const;
  // Adds an unfinished registration after a restart, or sets the procedure of one in progress.
  void AddRegistering(const ServerName& server, ProcId procedure);
  void SetRegistration(const ServerName& server, ProcId procedure);
  // Returns the procedure of the registration, invalid before its submission; nullopt if no registration is in
  // progress.
  [[nodiscard]] std::optional<ProcId> RegistrationOf(const ServerName& server) const;
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> List() const;
  // Records that the server's ZooKeeper registration is gone, so the procedure must not record the server.
  void Abandon(const ServerName& server);
  // Called when a registration gets its locks (S69). Returns why the server must not be recorded; if empty, the
  // registration continues, and its start code is now the greatest of its address.
  [[nodiscard]] std::string ClaimStartCode(const ServerName& server);
  // Returns true if this call ended the registration. If `recorded` is Ok the server is online.
  [[nodiscard]] bool EndRegistration(const ServerName& server, const Status& recorded);

  // Greatest start code of all servers at the address; 0 if none is known.
  [[nodiscard]] std::uint64_t GreatestStartCode(const ServerName& server) const;
  // Applies the start code of a server or a system record.
  void RaiseStartCode(const ServerName& server);
  void RaiseStartCodeFloor(std::uint64_t floor);
  // Start codes that `server`, which holds its locks, may forget in the batch that records it. It also raises the
  // floor: an address without a record can register only with a start code above (S89: start-code floor). Empty while
  // there are at most kStartCodesKept, and while another registration forgets some. Until EndRegistration, returns the
  // same for the same server.
  struct ForgottenStartCodes {
    std::vector<std::string> addresses;
    std::uint64_t floor = 0;
  };
  [[nodiscard]] ForgottenStartCodes ForgetStartCodes(const ServerName& server);
  static constexpr std::size_t kStartCodesKept = 1'000;  // addresses, including those of known servers
  static constexpr std::size_t kForgottenAtOnce = 16;
  // Keep younger entries. This exceeds the allowed clock skew of registering servers (S74: clock skew limit), so that
  // none is refused.
  static constexpr Millis kStartCodeAge{24 * 3'600'000};

 private:
  struct Registration {
    ProcId procedure;  // invalid while its submission is in progress
    bool abandoned = false;
    bool ending = false;  // EndRegistration makes the server a member
  };
  // nullopt: the server is not a member.
  [[nodiscard]] std::optional<Result<Admission>> AsMember(const ServerName& server) const;
  [[nodiscard]] Status Begin(const ServerName& server);
  void Raise(const ServerName& server) REQUIRES(mutex_);
  // Greatest start code that an incarnation at this address may have had.
  [[nodiscard]] std::uint64_t GreatestAt(const std::string& address) const REQUIRES(mutex_);
  [[nodiscard]] bool MayForget(const ServerName& server) const REQUIRES(mutex_);

  const Clock& clock_;
  Membership& members_;
  mutable Mutex mutex_;
  std::map<ServerName, Registration> registering_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> start_codes_ GUARDED_BY(mutex_);  // "host,port" -> greatest start code
  std::uint64_t start_code_floor_ GUARDED_BY(mutex_) = 0;                // greatest forgotten start code
  std::optional<ServerName> forgets_ GUARDED_BY(mutex_);  // the registration that is forgetting start codes
  ForgottenStartCodes forgotten_ GUARDED_BY(mutex_);      // by `forgets_`
};

// System records (S12: system record with its lock). "startcode/<host>,<port>" holds the greatest start code ever
// registered there, in decimal.
inline constexpr std::string_view kStartCodeRecordPrefix = "startcode/";
// In decimal: the greatest start code whose record was forgotten (S89).
inline constexpr std::string_view kStartCodeFloorRecord = "startcodes/floor";

}  // namespace ratchet::master
