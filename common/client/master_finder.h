// Finds the active master.
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
  // kUnavailable: no master is active now, or it cannot be found.
  [[nodiscard]] virtual Result<rpc::Endpoint> Find(Millis patience) = 0;
  // Describes where Find looks: "ZooKeeper at h:p".
  [[nodiscard]] virtual std::string Describe() const = 0;
  // The address found last did not answer as an active master.
  virtual void Forget() = 0;
};

// Reads the master's node in ZooKeeper. `servers`: "host:port,...".
[[nodiscard]] std::unique_ptr<MasterFinder> MakeZooKeeperFinder(std::string servers, std::string znode_parent,
                                                                Millis session_timeout);

// Tries the masters of a list in turn ("host:port"); kInvalidArgument names one that is malformed.
[[nodiscard]] Result<std::unique_ptr<MasterFinder>> MakeListFinder(const std::vector<std::string>& masters);

}  // namespace ratchet::client
