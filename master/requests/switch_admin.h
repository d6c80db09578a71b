// SwitchAdmin: sets the cluster's switches when an operator or a client asks for it (master/cluster/switches.h).
// Thread-safe; never blocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "master/cluster/switches.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class SwitchAdmin {
 public:
  explicit SwitchAdmin(MasterEnv& env) : env_(env) {}

  struct Request {
    std::vector<Switch> switches;
    bool on = false;
    // When the switch of splits or merges is turned off, wait for those that are running.
    bool and_wait = false;
    RequestContext context;  // its nonce has no effect
  };
  // `done` gets the previous values in the order of the request, after the change is durable and applied.
  void Set(Request request, std::function<void(Result<std::vector<bool>>)> done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
