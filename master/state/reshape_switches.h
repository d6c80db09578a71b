// A table's own switches for splits and merges: SPLIT_ENABLED, MERGE_ENABLED, and HBase's split policy that allows
// none. Pure.
#pragma once

#include "common/base/result.h"

namespace ratchet::master {

struct TableNode;

// DoNotRetryIOException, which names the attribute.
[[nodiscard]] Status AllowsSplits(const TableNode& table);
[[nodiscard]] Status AllowsMerges(const TableNode& table);

}  // namespace ratchet::master
