// What no client should do: a write to hbase:meta in the active master's name, but without its knowledge.
//
// For tests of what notices it. Blocks; one thread.
#pragma once

#include <filesystem>
#include <functional>

#include "common/client/admin.h"
#include "master/env/meta_table.h"

namespace ratchet::chaos {

// Writes what `change` makes of the row of region `encoded`. `root`: the cluster's, whose key the write shows (S77).
// kNotFound: hbase:meta has no such row.
[[nodiscard]] Status ChangeRowBehind(client::Admin admin, const std::filesystem::path& root, const std::string& encoded,
                                     const std::function<void(master::MetaEdit&)>& change);

}  // namespace ratchet::chaos
