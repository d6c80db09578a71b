// ServerDirectory: which region servers exist, in which phase, and what an order to each of them can still come to.
//
// A server is online until it is marked crashed; from that moment no report of it can change anything. Its ServerCrash
// procedure moves it through the later phases and removes it at the end. The directory only records: it submits
// nothing (ServerManager does). Owned by MasterLogic. Thread-safe.
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
#include "master/state/address_key.h"
#include "master/state/decommissions.h"
#include "procedure/author/event.h"

namespace ratchet::procedure {
class Executor;
}  // namespace ratchet::procedure

namespace ratchet::master {

// master/README.md draws the moves.
enum class ServerPhase : std::uint8_t {
  kOnline,     // registered; may report, may be given regions
  kCrashed,    // a ServerCrash exists or is due; fencing, sealing and splitting go on
  kLogsSplit,  // its recovered edits are published: its regions may be opened elsewhere
};
inline constexpr std::array kServerPhases{ServerPhase::kOnline, ServerPhase::kCrashed, ServerPhase::kLogsSplit};
[[nodiscard]] std::string_view ServerPhaseName(ServerPhase phase);
// In this order only; staying is legal, because steps run more than once.
[[nodiscard]] bool IsLegalMove(ServerPhase from, ServerPhase to);

// What an order to a server can still come to.
enum class ServerStanding : std::uint8_t {
  kServes,   // online: send, and wait for the answer
  kAwait,    // crashed: not settled yet; wait for StandingEvent
  kSettled,  // fenced, and its edits are published: it will never answer, and nothing of it is missing any more
};

struct ServerView {
  ServerName name;
  ServerPhase phase = ServerPhase::kOnline;
  bool draining = false;  // keeps its regions, is given no new ones
  std::string version;    // as it reported; empty: not told yet
  TimePoint last_heartbeat{};
  ProcId crash_procedure;  // valid from kCrashed on
};

// How a new incarnation of a server stands when it asks to be registered.
struct Admission {
  bool known = false;             // it is online already: nothing is to be recorded
  std::vector<ServerName> older;  // online servers at its address, which it replaces
};

class ServerDirectory {
 public:
  explicit ServerDirectory(const Clock& clock) : clock_(clock) {}

  // ---- views ----
  [[nodiscard]] bool IsOnline(const ServerName& server) const;
  // Nothing: unknown, so never seen, or crashed and completely dealt with.
  [[nodiscard]] std::optional<ServerPhase> PhaseOf(const ServerName& server) const;
  // It has a phase, or its registration waits for its turn.
  [[nodiscard]] bool IsKnown(const ServerName& server) const;
  // `meta`: of an order about hbase:meta, whose log is split before all others.
  [[nodiscard]] ServerStanding StandingOf(const ServerName& server, bool meta) const;
  [[nodiscard]] std::vector<ServerView> List() const;
  [[nodiscard]] std::vector<ServerName> Online() const;
  // Online, not draining and not decommissioned: where regions may go.
  [[nodiscard]] std::vector<ServerName> Takers() const;
  // The same; the decommissioned ones when there is no other.
  [[nodiscard]] std::vector<ServerName> Assignable() const;
  // Those of Assignable with the newest version, if possible without `avoid`: where system tables go.
  [[nodiscard]] std::vector<ServerName> NewestAssignable(const std::vector<ServerName>& avoid) const;
  // For the balancer too: it is marked, or is about to be, so nothing is to be moved to it.
  [[nodiscard]] bool IsDecommissioned(const ServerName& server) const { return decommissions_.Has(server); }
  [[nodiscard]] const Decommissions& decommissions() const { return decommissions_; }
  [[nodiscard]] bool AnyDead() const;
  // Its last heartbeats said so. Of this master's time only: nothing but words hangs on it.
  [[nodiscard]] bool WasLeaving(const ServerName& server) const;

  // This master found no server online when it began: the cluster was restarted as a whole, and regions go back to
  // where they were.
  [[nodiscard]] bool FoundNoneOnline() const;
  // The same, and until the time that was given a server may come back at the address of `server`, where none is
  // online.
  [[nodiscard]] bool MayComeBack(const ServerName& server) const;

  // Woken when a server comes online, for procedures that found no server to place a region on.
  static procedure::EventKey ServerAddedEvent() { return {"server-added"}; }
  // Woken when `server` is not online any more, and whenever its standing changes after that.
  static procedure::EventKey StandingEvent(const ServerName& server);

  // ---- changes ----
  // Whose waiters are woken from now on.
  void Attach(procedure::Executor* executor) { executor_ = executor; }
  // RegionServerReport. kFailedPrecondition with YouAreDeadException: not online here, the server must exit.
  Status Heartbeat(const ServerName& server);
  void SetDraining(const ServerName& server, bool draining);
  // See FoundNoneOnline. `wait`: for how long from now on servers may come back.
  void SetFoundNoneOnline(Millis wait);
  // Decommissions::Set; what waits for a server looks again.
  void ShowDecommission(const ServerName& server, const std::string& record);
  [[nodiscard]] Decommissions& decommissions() { return decommissions_; }
  // It was asked to stop (S73): it is given no new regions, and its end is shown as what it is.
  void SetLeaving(const ServerName& server);
  // Without a record: found in the system records and alive, or just recorded.
  void AddOnline(const ServerName& server, const std::string& version);
  // Known dead by a crash procedure that exists.
  void AddCrashed(const ServerName& server, ProcId crash_procedure);
  // True: it was online (or unknown, with `also_unknown`), and its crash procedure is to be submitted.
  [[nodiscard]] bool MarkCrashed(const ServerName& server, bool also_unknown);
  void SetMetaLogSplit(const ServerName& server);
  void SetLogsSplit(const ServerName& server);
  void Remove(const ServerName& server);

  // ---- submissions of crash procedures: never two at a time for one server ----
  // Nothing: the caller submits one, and says what came of it (EndSubmission). Else the procedure that exists; invalid:
  // its submission is under way.
  [[nodiscard]] std::optional<ProcId> BeginSubmission(const ServerName& server);
  // Invalid: it was not submitted.
  void EndSubmission(const ServerName& server, ProcId crash_procedure);
  // Crashed servers with their procedure; invalid: none exists, and none is being submitted.
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> Crashed() const;
  // The procedure has ended. True: it was the server's, which is still here, so that another one is due.
  [[nodiscard]] bool ForgetCrashProcedure(const ServerName& server, ProcId crash_procedure);

  // ---- registrations (S5, S69) ----
  // A server asks to be registered, and its registration is under way from here on. kFailedPrecondition with
  // YouAreDeadException for a start code that is not above the greatest one known for this address;
  // PleaseHoldException while its registration is under way.
  [[nodiscard]] Result<Admission> Admit(const ServerName& server);
  // An unfinished registration, after a restart; or the procedure of one that is under way.
  void AddRegistering(const ServerName& server, ProcId procedure);
  void SetRegistration(const ServerName& server, ProcId procedure);
  // Its procedure; invalid: not submitted yet. Nothing: no registration is under way.
  [[nodiscard]] std::optional<ProcId> RegistrationOf(const ServerName& server) const;
  [[nodiscard]] std::vector<std::pair<ServerName, ProcId>> Registrations() const;
  // Its registration in ZooKeeper has gone: nothing is to be recorded when its turn comes.
  void Abandon(const ServerName& server);
  // Of all that have run at the server's address; 0: none is known.
  [[nodiscard]] std::uint64_t GreatestStartCode(const ServerName& server) const;
  // A registration's turn has come (S69): why nothing must be recorded any more; empty: it goes on, and its start code
  // is the greatest of its address from here on.
  [[nodiscard]] std::string TakeTurn(const ServerName& server);
  // True: this call has ended it; with `recorded` the server is online.
  [[nodiscard]] bool EndRegistration(const ServerName& server, const Status& recorded);
  // From the system records.
  void RaiseStartCode(const ServerName& server);
  void RaiseStartCodeFloor(std::uint64_t floor);
  // `server`, whose turn it is, may forget these start codes in the batch that records it, and raises the floor below
  // which no address without a record registers (S89). Nothing while there are at most kStartCodesKept, and while
  // another registration forgets some. Until EndRegistration the same answer for the same server.
  struct ForgottenStartCodes {
    std::vector<std::string> addresses;
    std::uint64_t floor = 0;
  };
  [[nodiscard]] ForgottenStartCodes ForgetStartCodes(const ServerName& server);
  static constexpr std::size_t kStartCodesKept = 1'000;  // of addresses, those of servers that are known among them
  static constexpr std::size_t kForgottenAtOnce = 16;
  // Younger ones are kept. More than the clocks of servers that may register differ (S74), so that none of them is ever
  // refused.
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
    ProcId procedure;  // invalid: its submission is under way
    bool abandoned = false;
  };
  void Raise(const ServerName& server) REQUIRES(mutex_);
  // The greatest start code that an incarnation at this address may have had.
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
  std::uint64_t start_code_floor_ GUARDED_BY(mutex_) = 0;                // of all that were forgotten
  std::optional<ServerName> forgets_ GUARDED_BY(mutex_);                 // the registration that forgets some
  ForgottenStartCodes forgotten_ GUARDED_BY(mutex_);                     // by it
};

// System records of the procedure store (S12). "server/<server name>" exists from registration until the end of its
// crash procedure; "startcode/<host>,<port>" holds the greatest start code ever registered there, in decimal.
inline constexpr std::string_view kServerRecordPrefix = "server/";
inline constexpr std::string_view kStartCodeRecordPrefix = "startcode/";
// In decimal: the greatest start code of those whose record was forgotten (S89).
inline constexpr std::string_view kStartCodeFloorRecord = "startcodes/floor";
// Serialized pb::MetaLocation; set in the batch that makes meta's OPENING durable.
inline constexpr std::string_view kMetaLocationRecord = "meta/location";

}  // namespace ratchet::master
