// Where the active master is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rpc/channel.h"

namespace ratchet::client {

// Thread-safe; Find may block for a bounded time.
class MasterFinder {
 public:
  virtual ~MasterFinder() = default;
  // kUnavailable: no master is active right now, or it cannot be found out.
  [[nodiscard]] virtual Result<rpc::Endpoint> Find(Millis patience) = 0;
  // What Find asks, in words: "ZooKeeper at h:p".
  [[nodiscard]] virtual std::string Describe() const = 0;
  // The place last found did not answer as an active master.
  virtual void Forget() = 0;
};

// Reads the master's node in ZooKeeper. `servers`: "host:port,...".
[[nodiscard]] std::unique_ptr<MasterFinder> MakeZooKeeperFinder(std::string servers, std::string znode_parent,
                                                                Millis session_timeout);

// Tries the masters of a list in turn ("host:port"); kInvalidArgument names one that is malformed.
[[nodiscard]] Result<std::unique_ptr<MasterFinder>> MakeListFinder(const std::vector<std::string>& masters);

}  // namespace ratchet::client
