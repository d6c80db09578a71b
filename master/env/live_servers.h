// LiveServers: the servers that hold a liveness registration right now (ZooKeeper /rs). It is only a reason to suspect
// a server; fencing through the file system decides which process may act.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class LiveServers {
 public:
  virtual ~LiveServers() = default;
  // A fresh read, not a cache; blocks for it (bounded). Called once per activation, after the log directories and the
  // server records were listed (rule S34: which servers may be dead). kUnavailable: the ensemble did not answer.
  virtual Result<std::vector<ServerName>> Read() = 0;
};

}  // namespace ratchet::master
