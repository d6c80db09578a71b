// What a truncation and a restoring share: new regions in a new directory take the place of a disabled table's, by one
// commit of hbase:meta (S40, S41).
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/model/region_state.h"
#include "master/procedures/table_steps.h"

namespace ratchet::master {

// Rows of one commit: what one request and one entry of a log can carry.
inline constexpr std::size_t kMaxReplacedRows = 20'000;

// Nothing: every region of the disabled table is closed. Otherwise why not.
[[nodiscard]] Status AtRest(const std::vector<RegionNode>& regions);

// Behind the point of no return: the commit is sent until its outcome is known, and nothing is done before that (S40);
// then memory shows the new regions, and the table in `after`. Nothing once done; Done when a deletion's write has come
// after all. The table's row is expected as the procedure's change 0 has left it.
[[nodiscard]] std::optional<StepOutcome> ReplaceTable(StepContext& ctx, const pb::TableData& data, TableState after);
// The old directory goes to the archive.
[[nodiscard]] std::optional<StepOutcome> ArchiveOldLayout(StepContext& ctx, const pb::TableData& data);

}  // namespace ratchet::master
