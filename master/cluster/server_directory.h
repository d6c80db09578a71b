// ServerDirectory: the region servers, their phases, and whether an order to each of them can still be answered.
//
// A server is online until it is marked crashed; from that moment no report of it can change anything. Its ServerCrash
// procedure moves it through the later phases and removes it at the end. The directory only records; ServerManager
// submits procedures. Owned by MasterLogic. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/cluster/address_key.h"
#include "master/cluster/decommissions.h"
#include "procedure/api/event.h"

namespace ratchet::procedure {
class Executor;
}  // namespace ratchet::procedure

namespace ratchet::master {

// master/README.md draws the moves.
enum class ServerPhase : std::uint8_t {
  kOnline,     // registered; may report and may get regions
  kCrashed,    // a ServerCrash exists or is due; its logs are being fenced, sealed and split
  kLogsSplit,  // its recovered edits are published: its regions may be opened elsewhere
};
inline constexpr std::array kServerPhases{ServerPhase::kOnline, ServerPhase::kCrashed, ServerPhase::kLogsSplit};
[[nodiscard]] std::string_view ServerPhaseName(ServerPhase phase);
// Returns true for moves in the order above; staying is legal, because steps run more than once.
[[nodiscard]] bool IsLegalMove(ServerPhase from, ServerPhase to);

// Possible outcome of an order to a server.
enum class SettlementState : std::uint8_t {
  kServes,   // online: send the order, and wait for the answer
  kAwait,    // crashed: the outcome is open; wait for SettlementEvent
  kSettled,  // fenced, with its edits published: it will never answer, and all its writes are recovered
};

struct ServerView {
  ServerName name;
  ServerPhase phase = ServerPhase::kOnline;
  bool draining = false;  // keeps its regions and gets no new ones
  std::string version;    // as reported; empty if not reported yet
  TimePoint last_heartbeat{};
  ProcId crash_procedure;  // valid from kCrashed on
};

// Result of the admission of a new incarnation of a server.
struct Admission {
  bool known = false;             // already online: needs no record
  std::vector<ServerName> older;  // online servers at its address, which it replaces
};

class ServerDirectory {
 public:
  explicit ServerDirectory(const Clock& clock) : clock_(clock) {}

  // ---- views ----
  [[nodiscard]] bool IsOnline(const ServerName& server) const;
  // Returns nullopt for an unknown server: never seen, or crashed and completely recovered.
  [[nodiscard]] std::optional<ServerPhase> PhaseOf(const ServerName& server) const;
  // Returns true if the server has a phase, or its registration waits for its locks.
  [[nodiscard]] bool IsKnown(const ServerName& server) const;
  // `meta`: true for an order about hbase:meta, whose log is split before all others.
  [[nodiscard]] SettlementState SettlementOf(const ServerName& server, bool meta) const;
  [[nodiscard]] std::vector<ServerView> List() const;
  [[nodiscard]] std::vector<ServerName> Online() const;
  // Servers that are online, not draining and not decommissioned, so regions may move to them.
  [[nodiscard]] std::vector<ServerName> EligibleServers() const;
  // Like EligibleServers; the decommissioned servers if there is no other.
  [[nodiscard]] std::vector<ServerName> Assignable() const;
  // Servers for system tables: those of Assignable with the newest version, if possible without `avoid`.
  [[nodiscard]] std::vector<ServerName> NewestAssignable(const std::vector<ServerName>& avoid) const;
  // Returns true if the server is marked or reserved, so no region may move to it. The balancer uses it too.
  [[nodiscard]] bool IsDecommissioned(const ServerName& server) const { return decommissions_.Has(server); }
  [[nodiscard]] const Decommissions& decommissions() const { return decommissions_; }
  [[nodiscard]] bool AnyDead() const;
  // Returns true if the server's last heartbeats set the leaving flag. Used only in messages; not persisted.
  [[nodiscard]] bool WasLeaving(const ServerName& server) const;

  // Returns true if this master found no server online at its start: the whole cluster was restarted, and regions
  // return to their previous servers.
  [[nodiscard]] bool FoundNoneOnline() const;
  // Like FoundNoneOnline, and a server may still return at the address of `server`, where none is online, within the
  // given time.
  [[nodiscard]] bool MayComeBack(const ServerName& server) const;

  // Event for a new online server; procedures that found no server for a region wait for it.
  static procedure::EventKey ServerAddedEvent() { return {"server-added"}; }
  // Event for the end of `server`, and for each later change of its standing.
  static procedure::EventKey SettlementEvent(const ServerName& server);

  // ---- changes ---- Sets the executor whose waiters are woken.
  void Attach(procedure::Executor* executor) { executor_ = executor; }
  // Handles a RegionServerReport. kFailedPrecondition with YouAreDeadException: the server is not online here and must
  // exit.
  Status Heartbeat(const ServerName& server);
  void SetDraining(const ServerName& server, bool draining);
  // See FoundNoneOnline. `wait`: how long from now servers may return.
  void SetFoundNoneOnline(Millis wait);
  // Calls Decommissions::Set, and wakes procedures that wait for a server.
  void ShowDecommission(const ServerName& server, const std::string& record);
  [[nodiscard]] Decommissions& decommissions() { return decommissions_; }
  // Records that the server was asked to stop (S73: orderly stop): it gets no new regions, and its end
  // is shown as a requested stop.
  void SetLeaving(const ServerName& server);
  // Marks a server online; the caller has already persisted it.
  void AddOnline(const ServerName& server, const std::string& version);
  // Marks a server crashed after a restart, because its crash procedure exists.
  void AddCrashed(const ServerName& server, ProcId crash_procedure);
  // Returns true if the server was online (or unknown, with `also_unknown`), so that the caller must submit its crash
  // procedure.
  [[nodiscard]] bool MarkCrashed(const ServerName& server, bool also_unknown);
  void SetMetaLogSplit(const ServerName& server);
  void SetLogsSplit(const ServerName& server);
  void Remove(const ServerName& server);

  // ---- submissions of crash procedures: never two at a time for one server ---- Returns nullopt if the caller must
  // submit a procedure and call EndSubmission with the result. Otherwise returns the existing procedure; invalid while
  // its submission is in progress.
  [[nodiscard]] std::optional<ProcId> BeginSubmission(const ServerName& server);
  // `crash_procedure`: invalid if the submission failed.
  void EndSubmission(const ServerName& server, ProcId crash_procedure);
  // Crashed servers with their procedures; invalid if none exists or is being submitted.
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> Crashed() const;
  // Records the end of the procedure. Returns true if it was the procedure of the server and the server still exists,
  // so that a new one is due.
  [[nodiscard]] bool ForgetCrashProcedure(const ServerName& server, ProcId crash_procedure);

  // ---- registrations (S5: rising start code; S69: lock-grant order decides) ---- Begins the registration of a server.
  // kFailedPrecondition with YouAreDeadException for a start code that is not above the greatest one known for this
  // address; PleaseHoldException while its registration is in progress.
  [[nodiscard]] Result<Admission> Admit(const ServerName& server);
  // Adds an unfinished registration after a restart, or sets the procedure of one in progress.
  void AddRegistering(const ServerName& server, ProcId procedure);
  void SetRegistration(const ServerName& server, ProcId procedure);
  // Returns the procedure of the registration, invalid before its submission; nullopt if no registration is in
  // progress.
  [[nodiscard]] std::optional<ProcId> RegistrationOf(const ServerName& server) const;
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> Registrations() const;
  // Records that the server's ZooKeeper registration is gone, so the procedure must not record the server.
  void Abandon(const ServerName& server);
  // Greatest start code of all servers at the address; 0 if none is known.
  [[nodiscard]] std::uint64_t GreatestStartCode(const ServerName& server) const;
  // Called when a registration gets its locks (S69). Returns why the server must not be recorded; if empty, the
  // registration continues, and its start code is now the greatest of its address.
  [[nodiscard]] std::string ClaimStartCode(const ServerName& server);
  // Returns true if this call ended the registration. If `recorded` is Ok the server is online.
  [[nodiscard]] bool EndRegistration(const ServerName& server, const Status& recorded);
  // Applies a start code from the system records.
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
  struct Node {
    ServerPhase phase = ServerPhase::kOnline;
    bool draining = false;
    bool leaving = false;
    bool meta_log_split = false;
    bool submitting = false;
    std::string version;
    TimePoint last_heartbeat{};
    ProcId crash_procedure;
  };
  struct Registration {
    ProcId procedure;  // invalid while its submission is in progress
    bool abandoned = false;
  };
  void Raise(const ServerName& server) REQUIRES(mutex_);
  // Greatest start code that an incarnation at this address may have had.
  [[nodiscard]] std::uint64_t GreatestStartCode(const std::string& address) const REQUIRES(mutex_);
  void Wake(const procedure::EventKey& event);

  const Clock& clock_;
  procedure::Executor* executor_ = nullptr;
  Decommissions decommissions_;
  mutable Mutex mutex_;
  std::map<ServerName, Node> nodes_ GUARDED_BY(mutex_);
  std::optional<TimePoint> back_until_ GUARDED_BY(mutex_);  // set: FoundNoneOnline
  std::map<ServerName, Registration> registering_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> start_codes_ GUARDED_BY(mutex_);  // "host,port" -> greatest start code
  std::uint64_t start_code_floor_ GUARDED_BY(mutex_) = 0;                // greatest forgotten start code
  std::optional<ServerName> forgets_ GUARDED_BY(mutex_);  // the registration that is forgetting start codes
  ForgottenStartCodes forgotten_ GUARDED_BY(mutex_);      // by `forgets_`
};

// System records of the procedure store (S12: system record with its lock). "server/<server name>" exists from
// registration until the end of its crash procedure; "startcode/<host>,<port>" holds the greatest start code ever
// registered there, in decimal.
inline constexpr std::string_view kServerRecordPrefix = "server/";
inline constexpr std::string_view kStartCodeRecordPrefix = "startcode/";
// In decimal: the greatest start code whose record was forgotten (S89).
inline constexpr std::string_view kStartCodeFloorRecord = "startcodes/floor";
// Serialized pb::MetaLocation; set in the batch that makes meta's OPENING durable.
inline constexpr std::string_view kMetaLocationRecord = "meta/location";

}  // namespace ratchet::master
