// ServerManager: what happens when a region server comes or goes. It submits the procedures that record a new server
// and that handle a dead one; the server directory holds what is known. There are never two ServerCrash procedures of
// one server at a time. Owned by MasterLogic. Thread-safe.
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

class ServerDirectory;

class ServerManager {
 public:
  explicit ServerManager(ServerDirectory& directory) : directory_(directory) {}
  void Attach(procedure::Executor* executor) { executor_ = executor; }

  // RegionServerStartup. `done` after the server is durably known: answer only then, and after that compare with the
  // liveness registrations once more (the server may have died meanwhile). An older incarnation on the same host and
  // port is expired at once. kFailedPrecondition with YouAreDeadException for a start code that is not above the
  // greatest one known for this host and port (S5); repeated registration of an online server is Ok, of one whose
  // registration is still waiting for its turn PleaseHoldException with what it waits for: it asks again.
  void Register(const ServerName& server, const std::string& version, std::function<void(Status)> done);

  // Servers whose registration waits for its turn. Those whose registration in ZooKeeper has gone since then are to be
  // abandoned (ServerDirectory::Abandon): nothing is recorded of a server that never was online here, so that none has
  // to be recovered.
  [[nodiscard]] std::vector<ServerName> Registering() const;

  // ZooKeeper's registration is gone, orders cannot be delivered, or an operator asked for it: marks the server crashed
  // and submits its ServerCrash. Nothing happens for a server that is unknown or already crashed. `done` (may be empty)
  // gets the crash procedure's pid, invalid when there was nothing to do. Does not block.
  void Expire(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done = {});
  // Found dead, no procedure yet: like Expire, for a server that was never online here.
  void ExpireUnknown(const ServerName& server, const std::string& why);

  // Submits again what could not be submitted, and lets in the servers whose registration an earlier master began. Call
  // every few seconds.
  void Sweep();

 private:
  void SubmitCrash(const ServerName& server, std::function<void(Result<ProcId>)> done);
  void FinishRegistration(const ServerName& server, const std::string& version, const std::function<void(Status)>& done,
                          const Status& recorded);
  void FinishRegistrations();
  static Status OutcomeOf(const ServerName& server, const procedure::ProcedureResult& result);
  [[nodiscard]] Error StillRegistering(const ServerName& server, ProcId procedure) const;

  ServerDirectory& directory_;
  procedure::Executor* executor_ = nullptr;  // set once, before the first call
};

}  // namespace ratchet::master
