// Archives the directories of regions that no row of hbase:meta names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/procedures/core/common.h"

namespace ratchet::master {

// Moves the directories to the archive. Returns nullopt when done, also if the table's whole directory is already gone.
[[nodiscard]] std::optional<StepOutcome> ArchiveRegions(StepContext& ctx, const TableName& table,
                                                        const std::vector<std::string>& encoded);

}  // namespace ratchet::master
