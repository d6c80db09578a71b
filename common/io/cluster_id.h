// <root>/cluster.id: the cluster that a root directory belongs to. The first master writes it, once.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

inline constexpr const char* kClusterIdFile = "cluster.id";

// The id without surrounding white space. kNotFound while there is none; kCorruption when the file has no valid id: it
// is empty, has more than one line, or more than 128 printable characters.
[[nodiscard]] Result<std::string> ReadClusterId(Directory& root);

}  // namespace ratchet::io
