// <root>/cluster.id and <root>/cluster.key: which cluster a root directory belongs to, and what its processes show each
// other. The first master writes them, once.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

inline constexpr const char* kClusterIdFile = "cluster.id";

// The id without surrounding white space. kNotFound while there is none; kCorruption when it is empty.
[[nodiscard]] Result<std::string> ReadClusterId(io::Directory& root);

// Waits until <root>/cluster.key (io/cluster_key.h) is there, like AwaitClusterId. Not before the root is known to
// belong to its place in ZooKeeper.
[[nodiscard]] Result<std::string> AwaitClusterKey(io::Directory& root, Clock& clock, Millis limit,
                                                  const std::function<bool(Millis pause)>& wait);

// Waits until the id is there. `wait(pause)` pauses and returns true when the process is to end (kAborted). kTimeout
// after `limit`.
[[nodiscard]] Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                                 const std::function<bool(Millis pause)>& wait);

}  // namespace ratchet::regionserver
