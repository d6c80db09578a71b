// Where the procedure store of a cluster is.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::procedure {

// `path`: a cluster's root directory, or its 'procedures' directory. For tools: nothing is made or claimed.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenStoreDirectory(const std::string& path);

}  // namespace ratchet::procedure
