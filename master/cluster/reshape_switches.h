// Checks whether a table's regions may be split and merged: by the cluster's switches and by the table's attributes
// (SPLIT_ENABLED, MERGE_ENABLED, and HBase's split policy that disables splits).
#pragma once

#include "common/base/result.h"

namespace ratchet::master {

struct TableNode;
class Switches;

// Returns Ok, or a DoNotRetryIOException that names the switch or the attribute.
[[nodiscard]] Status AllowsSplits(const Switches& switches, const TableNode& table);
[[nodiscard]] Status AllowsMerges(const Switches& switches, const TableNode& table);

}  // namespace ratchet::master
