// ServerAdmin: what administrators may ask for about servers, checked and turned into procedures. As TableAdmin: the
// nonce gives the same pid across masters, and `done` gets the pid once it is durable, or why the request was refused.
// Thread-safe; never blocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/server_name.h"
#include "master/control/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class ServerAdmin {
 public:
  using Done = PidDone;
  explicit ServerAdmin(MasterEnv& env) : env_(env) {}

  // Marks an online server as decommissioned; `offload`: and moves its regions off; `and_stop`: and has it stop then.
  // Refused for the last server that can have regions.
  struct Drain {
    ServerName server;
    bool offload = true;
    bool and_stop = false;
  };
  void DrainServer(const Drain& drain, RequestContext context, Done done);
  // Takes the mark of the server's address back, and moves `regions` (encoded names) to the server there.
  void Recommission(const ServerName& server, const std::vector<std::string>& regions, RequestContext context,
                    Done done);
  // HBase's way: nothing happens to a server that is not marked. `done` when the mark is gone and the moves of
  // `regions` are durable.
  void TakeBack(const ServerName& server, std::vector<std::string> regions, const std::string& user,
                std::function<void(Status)> done);
  // HBase's way: all of `servers` are marked, then drained if `offload`. `done` when every mark is shown and each drain
  // is durable, or with the first refusal; asked again it does what is left to do.
  void Decommission(const std::vector<ServerName>& servers, bool offload, const std::string& user,
                    std::function<void(Status)> done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
