// Whether a root directory has ever belonged to a cluster that ran. Pure look, thread-safe.
#pragma once

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

inline constexpr const char* kProceduresFolder = "procedures";

// True when a master has ever claimed the procedure store below `root` (claims are never removed, S9). A master makes
// its first claim only after the cluster's place in ZooKeeper carries its id (S72): look here first, there second.
[[nodiscard]] Result<bool> HasHistory(Directory& root);

}  // namespace ratchet::io
