// Whether a table's regions may be split and merged: by the cluster's switches, and by its own (SPLIT_ENABLED,
// MERGE_ENABLED, and HBase's split policy that allows none).
#pragma once

#include "common/base/result.h"

namespace ratchet::master {

struct TableNode;
class Switches;

// DoNotRetryIOException, which names the switch or the attribute.
[[nodiscard]] Status AllowsSplits(const Switches& switches, const TableNode& table);
[[nodiscard]] Status AllowsMerges(const Switches& switches, const TableNode& table);

}  // namespace ratchet::master
