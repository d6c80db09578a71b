// `ratchet-master --check-root`: runs every check of a root directory that can prevent a master's start (S114: no start
// without the past), one line each. Changes nothing, and may run while the cluster is running.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/root_history.h"

namespace ratchet::master {

// Error: the root cannot be read.
[[nodiscard]] Result<std::vector<io::RootCheck>> CheckRootDirectory(const std::string& path);

[[nodiscard]] bool AnyRefused(const std::vector<io::RootCheck>& checks);
[[nodiscard]] std::string CheckText(const std::vector<io::RootCheck>& checks);

}  // namespace ratchet::master
