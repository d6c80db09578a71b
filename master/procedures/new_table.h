// What a creation, a truncation, a clone and a restoring share: they make a table's directory and its regions from what
// their data say.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"
#include "master/procedures/table_steps.h"

namespace ratchet::master {

// The ids of regions that procedure `creator` makes: they never come back (S31), have thirteen digits like HBase's
// times, so that they sort as text too, and daughters' ids are larger than their parents'. The transition number of the
// rows that a creation writes; whatever is done to such a region raises it.
inline constexpr std::uint64_t kCreatedTransition = 1;
[[nodiscard]] constexpr std::uint64_t RegionIdFor(ProcId creator) { return 1'000'000'000'000ULL + creator.value(); }

[[nodiscard]] Result<TableDescriptor> DescriptorIn(const pb::TableData& data);
// The regions between the split keys.
[[nodiscard]] std::vector<RegionInfo> NewRegionsOf(const pb::TableData& data, ProcId creator);
// Whether the name of the region that begins at `key`, whatever its id, can be a row of hbase:meta.
[[nodiscard]] bool FitsMeta(const TableName& table, std::string_view key);
// The row of such a region; of all of them, each with the number of the copy that has made it, if any has.
[[nodiscard]] MetaEdit CreationOf(const RegionInfo& region);
[[nodiscard]] std::vector<MetaEdit> CreationsOf(const pb::TableData& data, ProcId creator);
// The table as memory shows it; its state and number are ShowTable's to set. Without a schema when the data have none
// that can be read.
[[nodiscard]] TableNode NewTableNode(const pb::TableData& data, ProcId creator);

// Directory, descriptor and regions' directories. Nothing once they are there; otherwise what the step has to return.
[[nodiscard]] std::optional<StepOutcome> MakeNewLayout(StepContext& ctx, const pb::TableData& data);
// Its undo.
[[nodiscard]] Status ArchiveNewLayout(StepContext& ctx, const pb::TableData& data);
// The rows of the regions, then the table's, ENABLING; then memory. Nothing once they are there.
[[nodiscard]] std::optional<StepOutcome> AddNewTable(StepContext& ctx, const pb::TableData& data);
// Its undo.
[[nodiscard]] Status RemoveNewTable(StepContext& ctx, const pb::TableData& data);
[[nodiscard]] std::vector<ProcedurePtr> AssignNewRegions(const pb::TableData& data, ProcId creator);

}  // namespace ratchet::master
