// ServerManager: which region servers exist, in which state, and what happens when one comes or goes.
//
// A server is online until Expire() marks it crashed; from that moment no report of it can change anything. Its
// ServerCrash procedure moves it through the later phases and forgets it at the end. There is never a second one for a
// server. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "procedure/author/event.h"

namespace ratchet::procedure {
class Executor;
struct ProcedureResult;
}  // namespace ratchet::procedure

namespace ratchet::master {

struct MasterEnv;

// In this order only.
enum class ServerPhase : std::uint8_t {
  kOnline,     // registered; may report, may be given regions
  kCrashed,    // a ServerCrash exists; fencing, sealing and splitting go on
  kLogsSplit,  // its recovered edits are published: its regions may be opened elsewhere
};
[[nodiscard]] std::string_view ServerPhaseName(ServerPhase phase);

// What an order to a server can still come to.
enum class ServerStanding : std::uint8_t {
  kServes,   // online: send, and wait for the answer
  kAwait,    // crashed: not settled yet; wait for LogsSplitEvent
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

class ServerManager {
 public:
  explicit ServerManager(const Clock& clock) : clock_(clock) {}

  // ---- called by the shell's services ----

  // RegionServerStartup. `done` after the server is durably known: answer only then, and after that compare with the
  // liveness registrations once more (the server may have died meanwhile). An older incarnation on the same host and
  // port is expired at once. kFailedPrecondition with YouAreDeadException for a start code that is not above the
  // greatest one known for this host and port (S5); repeated registration of an online server is Ok, of one whose
  // registration is still waiting for its turn PleaseHoldException with what it waits for: it asks again.
  void Register(const ServerName& server, const std::string& version, std::function<void(Status)> done);

  // Servers whose registration waits for its turn. Those whose registration in ZooKeeper has gone since then are to be
  // abandoned: nothing is recorded of a server that never was online here, so that none has to be recovered.
  [[nodiscard]] std::vector<ServerName> Registering() const;
  void Abandon(const ServerName& server);

  // RegionServerReport. kFailedPrecondition with YouAreDeadException: not online here, the server must exit.
  // The regions that it lists go to Reconciler::OnHeartbeat.
  Status Heartbeat(const ServerName& server);

  // ZooKeeper's registration is gone, orders cannot be delivered, or somebody asked for it: marks the server crashed
  // and submits its ServerCrash. Nothing happens for a server that is unknown or already crashed. `done` (may be empty)
  // gets the crash procedure's pid, invalid when there was nothing to do. Does not block.
  void Expire(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done = {});

  // ---- for everybody ----
  [[nodiscard]] bool IsOnline(const ServerName& server) const;
  // Nothing: unknown, so never seen, or crashed and completely dealt with.
  [[nodiscard]] std::optional<ServerPhase> PhaseOf(const ServerName& server) const;
  // It has a phase, or its registration waits for its turn.
  [[nodiscard]] bool IsKnown(const ServerName& server) const;
  // `meta`: of an order about hbase:meta, whose log is split before all others.
  [[nodiscard]] ServerStanding StandingOf(const ServerName& server, bool meta) const;
  [[nodiscard]] std::vector<ServerView> List() const;
  [[nodiscard]] std::vector<ServerName> Online() const;
  // Online and not draining: where regions may go.
  [[nodiscard]] std::vector<ServerName> Assignable() const;
  [[nodiscard]] bool AnyDead() const;
  void SetDraining(const ServerName& server, bool draining);

  // Woken when a server comes online (who found no server to place a region on waits for it).
  static procedure::EventKey ServerAddedEvent() { return {"server-added"}; }
  // Woken when `server` is not online any more, and whenever its standing changes after that.
  static procedure::EventKey StandingEvent(const ServerName& server);

  // ---- for activation and ServerCrash ----
  void Attach(procedure::Executor* executor) { executor_ = executor; }
  // Without a record, without an event: found in the system records and alive.
  void AddOnline(const ServerName& server, const std::string& version);
  // Known dead by a crash procedure that exists.
  void AddCrashed(const ServerName& server, ProcId crash_procedure);
  // Found dead, no procedure yet: like Expire, for a server that was never online here.
  void ExpireUnknown(const ServerName& server, const std::string& why);
  void SetMetaLogSplit(const ServerName& server);
  void SetLogsSplit(const ServerName& server);
  void Remove(const ServerName& server);
  // From the system records.
  void RaiseStartCode(const ServerName& server);
  // An unfinished registration, after a restart.
  void AddRegistering(const ServerName& server, ProcId procedure);
  // A registration's turn has come (S69): why nothing must be recorded any more; empty: it goes on, and its start code
  // is the greatest of its address from here on.
  [[nodiscard]] std::string TakeTurn(const ServerName& server);
  // Submits again what could not be submitted, and lets in the servers whose registration an earlier master began. Call
  // every few seconds.
  void Sweep();

 private:
  struct Node {
    ServerPhase phase = ServerPhase::kOnline;
    bool draining = false;
    bool meta_log_split = false;
    bool submitting = false;
    std::string version;
    TimePoint last_heartbeat{};
    ProcId crash_procedure;
  };
  void SubmitCrash(const ServerName& server, std::function<void(Result<ProcId>)> done);
  struct Registration {
    ProcId procedure;  // invalid: its submission is under way
    bool abandoned = false;
  };
  void FinishRegistration(const ServerName& server, const std::string& version, const std::function<void(Status)>& done,
                          const Status& recorded);
  void FinishRegistrations();
  static Status OutcomeOf(const ServerName& server, const procedure::ProcedureResult& result);
  [[nodiscard]] std::optional<ProcId> RegistrationOf(const ServerName& server) const;  // invalid: not submitted yet
  [[nodiscard]] Error StillRegistering(const ServerName& server, ProcId procedure) const;
  Status AdmitStartCode(const ServerName& server, bool* known, std::vector<ServerName>* older);
  void Wake(const procedure::EventKey& event);

  const Clock& clock_;
  procedure::Executor* executor_ = nullptr;
  mutable Mutex mutex_;
  std::map<ServerName, Node> nodes_ GUARDED_BY(mutex_);
  std::map<ServerName, Registration> registering_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> start_codes_ GUARDED_BY(mutex_);  // "host,port" -> greatest start code
};

// System records of the procedure store (S12). "server/<server name>" exists from registration until the end of its
// crash procedure; "startcode/<host>,<port>" holds the greatest start code ever registered there, in decimal.
inline constexpr std::string_view kServerRecordPrefix = "server/";
inline constexpr std::string_view kStartCodeRecordPrefix = "startcode/";
// Serialized pb::MetaLocation; set in the batch that makes meta's OPENING durable.
inline constexpr std::string_view kMetaLocationRecord = "meta/location";

// "host,port": what start codes are compared within, and the name of its lock.
[[nodiscard]] std::string AddressKey(const ServerName& server);

}  // namespace ratchet::master
