// ServerAdmin: checks the requests of administrators about servers and submits their procedures. As in TableAdmin, the
// nonce gives the same pid across masters, and `done` gets the pid once it is durable, or why the request was refused.
// Thread-safe; never blocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/server_name.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class ServerAdmin {
 public:
  using Done = PidDone;
  explicit ServerAdmin(MasterEnv& env) : env_(env) {}

  // Marks an online server as decommissioned. `offload`: also moves its regions off. `and_stop`: then stops it. Refused
  // for the last server that can have regions.
  struct Drain {
    ServerName server;
    bool offload = true;
    bool and_stop = false;
  };
  void DrainServer(const Drain& drain, RequestContext context, Done done);
  // Removes the decommission mark of the server's address, and moves `regions` (encoded names) to the server there.
  void Recommission(const ServerName& server, const std::vector<std::string>& regions, RequestContext context,
                    Done done);
  // As in HBase, has no effect on a server that is not marked. Calls `done` when the mark is removed and the moves of
  // `regions` are durable.
  void Unmark(const ServerName& server, std::vector<std::string> regions, const RequestContext& context,
              std::function<void(Status)> done);
  // As in HBase, marks all of `servers`, then drains them if `offload`. Calls `done` when every mark is visible and
  // each drain is durable, or with the first error. A repeated request does the rest.
  void Decommission(const std::vector<ServerName>& servers, bool offload, const RequestContext& context,
                    std::function<void(Status)> done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
