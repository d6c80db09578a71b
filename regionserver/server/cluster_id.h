// <root>/cluster.id: which cluster a root directory belongs to. The first master writes it, once.
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

// Waits until it is there. `wait(pause)` pauses and returns true when the process is to end (kAborted). kTimeout after
// `limit`.
[[nodiscard]] Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                                 const std::function<bool(Millis pause)>& wait);

}  // namespace ratchet::regionserver
