// Shared by truncation and restore: one commit of hbase:meta replaces a disabled table's regions by new ones in a new
// directory (S40: durable commit point; S41: atomic conditional commit).
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/model/region_state.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

// Maximum number of rows of one commit, which must fit into one request and one log entry.
inline constexpr std::size_t kMaxReplacedRows = 20'000;

// Returns Ok if every region of the disabled table is closed; otherwise names one that is not.
[[nodiscard]] Status AtRest(const std::vector<RegionNode>& regions);

// Runs after the point of no return: repeats the commit until its outcome is known, and does nothing else before that
// (S40). Then memory gets the new regions, and the table the state `after`. Returns nullopt when done; Done if a late
// write of a DeleteTable was applied. The commit expects the table's row as change 0 of the procedure left it.
[[nodiscard]] std::optional<StepOutcome> ReplaceTable(StepContext& ctx, const pb::TableData& data, TableState after);
// Moves the old directory to the archive.
[[nodiscard]] std::optional<StepOutcome> ArchiveOldLayout(StepContext& ctx, const pb::TableData& data);

}  // namespace ratchet::master
