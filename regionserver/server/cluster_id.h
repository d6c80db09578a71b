// Waits for what the first master writes into the root: <root>/cluster.id (common/io/cluster_id.h), which says to which
// cluster the directory belongs, and <root>/cluster.key, which its processes show each other.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Waits until <root>/cluster.key (common/io/cluster_key.h) is there, like AwaitClusterId. Not before the root is known
// to belong to its place in ZooKeeper.
[[nodiscard]] Result<std::string> AwaitClusterKey(io::Directory& root, Clock& clock, Millis limit,
                                                  const std::function<bool(Millis pause)>& wait);

// Waits until the id is there. `wait(pause)` pauses and returns true when the process is to end (kAborted). kTimeout
// after `limit`.
[[nodiscard]] Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                                 const std::function<bool(Millis pause)>& wait);

}  // namespace ratchet::regionserver
