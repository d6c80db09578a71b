// Waits for the files that the first master writes into the root: <root>/cluster.id (common/io/cluster_id.h), which
// identifies the directory's cluster, and <root>/cluster.key, which its processes prove to each other.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Waits until <root>/cluster.key (common/io/cluster_key.h) exists, like AwaitClusterId. Call it only when the root is
// known to match its node in ZooKeeper (S72: root and ZooKeeper node belong together).
[[nodiscard]] Result<io::ClusterKeys> AwaitClusterKeys(io::Directory& root, Clock& clock, Millis limit,
                                                       const std::function<bool(Millis pause)>& wait);

// Waits until the id exists. `wait(pause)` pauses and returns true when the process must end (kAborted). kTimeout after
// `limit`.
[[nodiscard]] Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                                 const std::function<bool(Millis pause)>& wait);

}  // namespace ratchet::regionserver
