// Takes regions that no row of hbase:meta names any more off the storage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"

namespace ratchet::master {

// Moves their directories to the archive. Nothing: done, also when the table is gone, whose directory went as a whole.
[[nodiscard]] std::optional<StepOutcome> ArchiveRegions(StepContext& ctx, const TableName& table,
                                                        const std::vector<std::string>& encoded);

}  // namespace ratchet::master
