// Shared by creation, truncation, clone and restore: makes a table's directory and its regions from the procedure's
// data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

// kCreatedTransition: transition number of the rows that CreateTable writes; every later change of such a region raises
// it. RegionIdFor: id of the regions that procedure `creator` makes. These ids are never reused (S31: names are never
// reused), have thirteen digits like HBase's timestamps, so that they also sort as text, and daughters' ids are larger
// than their parents'.
inline constexpr std::uint64_t kCreatedTransition = 1;
[[nodiscard]] constexpr std::uint64_t RegionIdFor(ProcId creator) { return 1'000'000'000'000ULL + creator.value(); }

[[nodiscard]] Result<TableDescriptor> DescriptorIn(const pb::TableData& data);
// Returns the regions between the split keys.
[[nodiscard]] std::vector<RegionInfo> NewRegionsOf(const pb::TableData& data, ProcId creator);
// Returns true if the name of a region that begins at `key`, with any id, fits into a row key of hbase:meta.
[[nodiscard]] bool FitsMeta(const TableName& table, std::string_view key);
// CreationOf: the row of one new region. CreationsOf: the rows of all, each with the number of the copy that made the
// region, if any.
[[nodiscard]] MetaEdit CreationOf(const RegionInfo& region);
[[nodiscard]] std::vector<MetaEdit> CreationsOf(const pb::TableData& data, ProcId creator);
// Returns the table's in-memory node, without a schema if the data have no readable one. ShowTable sets state and
// number.
[[nodiscard]] TableNode NewTableNode(const pb::TableData& data, ProcId creator);

// S173 (only creations add table rows): returns nullopt if no row of another new table with this name is on its way.
// Call in the step that records the lock grant, before each other wait of that step; this and the other functions with
// an optional outcome return the outcome that the step must return otherwise.
[[nodiscard]] std::optional<StepOutcome> RequireNoOtherCreation(StepContext& ctx, const pb::TableData& data);
// Makes the directory, the descriptor and the regions' directories. These return nullopt when done.
[[nodiscard]] std::optional<StepOutcome> MakeNewLayout(StepContext& ctx, const pb::TableData& data);
// S115 (missing row is not evidence): records durably that the directory stays (KeepLayout) or may be removed
// (DropLayout).
[[nodiscard]] std::optional<StepOutcome> KeepLayout(StepContext& ctx, const std::string& directory, ProcId pid);
[[nodiscard]] std::optional<StepOutcome> DropLayout(StepContext& ctx, const std::string& directory);
// Calls DropLayout and moves the directory to the archive.
[[nodiscard]] std::optional<StepOutcome> DropAndArchiveLayout(StepContext& ctx, const std::string& directory);
// Undoes MakeNewLayout.
[[nodiscard]] Status ArchiveNewLayout(StepContext& ctx, const pb::TableData& data);
// Writes the rows of the regions, then the table's row in state ENABLING; then updates memory.
[[nodiscard]] std::optional<StepOutcome> AddNewTable(StepContext& ctx, const pb::TableData& data);
// Undoes AddNewTable.
[[nodiscard]] Status RemoveNewTable(StepContext& ctx, const pb::TableData& data);
[[nodiscard]] std::vector<ProcedurePtr> AssignNewRegions(StepContext& ctx, const pb::TableData& data);

}  // namespace ratchet::master
