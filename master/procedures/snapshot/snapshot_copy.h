// Shared by clone and restore of a snapshot: makes the regions of a table's new directory from the snapshot's parts,
// each by one order to a live server. Uses the data of a new table (new_table.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/snapshot.pb.h"
#include "master/cluster/snapshot_book.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

[[nodiscard]] pb::TableData NewCopyData(const TableName& table, const std::string& snapshot);
[[nodiscard]] std::optional<procedure::PartsLeft> CopiesLeft(const pb::TableData& data);
[[nodiscard]] procedure::Description DescribeCopy(const pb::TableData& data);
// Reads the snapshot, and sets schema, split keys and parts. Returns nullopt when done; otherwise the outcome that the
// step must return.
[[nodiscard]] std::optional<StepOutcome> ReadSnapshot(StepContext& ctx, pb::TableData& data);
// FindSnapshot and PartsOf (master/cluster/snapshot_book.h) for a step.
[[nodiscard]] Acted<Result<CompleteSnapshot>> FindForStep(StepContext& ctx, const std::string& name);
[[nodiscard]] Acted<Result<hbase::pb::SnapshotParts>> PartsForStep(StepContext& ctx, const std::string& directory);
// The other actions on a snapshot's directory. ArchiveForStep returns nullopt when it is done.
[[nodiscard]] Acted<Status> MakeSnapshotLayout(StepContext& ctx, const std::string& directory,
                                               std::vector<std::string> encoded_regions);
[[nodiscard]] Acted<Status> PutForStep(StepContext& ctx, const std::string& directory, const std::string& file,
                                       std::string content);
[[nodiscard]] std::optional<StepOutcome> ArchiveForStep(StepContext& ctx, const std::string& directory);
// Appends an order for each region that is not made yet. If it returns a value, the step must return that outcome
// instead of spawning the orders.
[[nodiscard]] std::optional<StepOutcome> OrderCopies(StepContext& ctx, const pb::TableData& data,
                                                     std::vector<ProcedurePtr>& orders);
// Reads the result of each order. Returns nullopt if the step must check for missing regions; otherwise the outcome
// that the step must return.
[[nodiscard]] std::optional<StepOutcome> ReadCopyResults(StepContext& ctx, pb::TableData& data);

}  // namespace ratchet::master
