// ServerManager: handles the arrival and the end of region servers. It submits the procedures that record a new server
// and that handle a dead one; Membership holds the known servers. There are never two ServerCrash procedures
// of one server at a time. Owned by MasterLogic. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"

namespace ratchet::procedure {
class Executor;
struct ProcedureResult;
}  // namespace ratchet::procedure

namespace ratchet::master {

class Membership;
class Registrations;

class ServerManager {
 public:
  ServerManager(Membership& members, Registrations& registrations) : members_(members), registrations_(registrations) {}
  void Attach(procedure::Executor* executor) { executor_ = executor; }

  // RegionServerStartup. Calls `done` after the server is durably recorded: answer only then, and afterwards check the
  // liveness registrations again (the server may have died meanwhile). An older incarnation on the same host and port
  // is expired at once. kFailedPrecondition with YouAreDeadException for a start code that is not above the greatest
  // one known for this host and port (S5: rising start code); A repeated registration of an online server returns Ok.
  // While the registration waits for its locks, the result is PleaseHoldException with the reason, and the server
  // retries.
  void Register(const ServerName& server, const std::string& version, std::function<void(Status)> done);

  // Servers whose registration waits for its locks. Abandon (Registrations::Abandon) those whose ZooKeeper
  // registration is gone: a server that was never online here has no record, and needs no recovery.
  [[nodiscard]] std::vector<ServerName> Registering() const;

  // Marks the server crashed and submits its ServerCrash, because its ZooKeeper registration is gone, orders cannot be
  // delivered, or an operator asked for it. Has no effect on a server that is unknown or already crashed. `done` (may
  // be empty) gets the crash procedure's pid, invalid when there was nothing to do. `why` is shown with the crash
  // procedure; it begins with the kind of reason: "session ended", "connection refused", "silent", "goodbye",
  // "operator". Does not block.
  void Expire(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done = {});
  // Like Expire, for a dead server that was never online here and has no procedure yet.
  void ExpireUnknown(const ServerName& server, const std::string& why);

  // Submits again the procedures that could not be submitted, and finishes registrations that an earlier master began.
  // Call every few seconds.
  void Sweep();

 private:
  void SubmitCrash(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done);
  void FinishRegistration(const ServerName& server, const std::string& version, const std::function<void(Status)>& done,
                          const Status& recorded);
  void FinishRegistrations();
  static Status OutcomeOf(const ServerName& server, const procedure::ProcedureResult& result);
  [[nodiscard]] Error StillRegistering(const ServerName& server, ProcId procedure) const;

  Membership& members_;
  Registrations& registrations_;
  procedure::Executor* executor_ = nullptr;  // set once, before the first call
};

}  // namespace ratchet::master
