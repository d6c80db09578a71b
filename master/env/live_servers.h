// LiveServers: the servers that hold a liveness registration right now (ZooKeeper /rs). It decides when to suspect,
// never which process may act: the file system does (fencing).
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class LiveServers {
 public:
  virtual ~LiveServers() = default;
  // A fresh read, not a cache; blocks for it (bounded). Called once per activation, after the log directories and the
  // server records were listed (rule S34). kUnavailable: the ensemble did not answer.
  virtual Result<std::vector<ServerName>> Read() = 0;
};

}  // namespace ratchet::master
