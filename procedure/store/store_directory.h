// Finds the directory of a cluster's procedure store.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::procedure {

// `path`: a cluster's root directory, or its 'procedures' directory. For tools: creates and claims nothing.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenStoreDirectory(const std::string& path);

}  // namespace ratchet::procedure
