// Writes to hbase:meta in the active master's name without its knowledge.
//
// For tests of the detection. Blocks; one thread.
#pragma once

#include <filesystem>
#include <functional>

#include "common/client/admin.h"
#include "master/env/meta_table.h"

namespace ratchet::chaos {

// Applies `change` to the row of region `encoded` and writes it. `root`: the cluster's root, whose key the write
// presents (S77: members only). kNotFound: hbase:meta has no such row.
[[nodiscard]] Status ChangeRowBehind(client::Admin admin, const std::filesystem::path& root, const std::string& encoded,
                                     const std::function<void(master::MetaEdit&)>& change);

}  // namespace ratchet::chaos
