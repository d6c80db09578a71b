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
#include "master/procedures/table/new_table_procedure.h"

namespace ratchet::master {

// `restores_rights`: the table gets the rights that the snapshot's table had, S161 (rights return when asked for).
[[nodiscard]] pb::TableData NewCopyData(const TableName& table, const CompleteSnapshot& snapshot, bool restores_rights);
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

// The base of CloneSnapshot and RestoreSnapshot: the states between MakeLayout and the write to hbase:meta.
template <class P>
class CopiedTableProcedure : public NewTableProcedure<P> {
  using Base = NewTableProcedure<P>;

 public:
  using Base::Base;
  static constexpr bool kCopies = true;
  [[nodiscard]] procedure::Description Describe() const override { return DescribeCopy(this->data_); }
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return CopiesLeft(this->data_); }

  StepOutcome CopyRegions(StepContext& ctx) {
    std::vector<ProcedurePtr> orders;
    RATCHET_STEP(OrderCopies(ctx, this->data_, orders));
    if (orders.empty()) return this->ToMeta();
    return Base::template SpawnThen<&CopiedTableProcedure::ConfirmRegions>(std::move(orders));
  }
  StepOutcome ConfirmRegions(StepContext& ctx) {
    RATCHET_STEP(ReadCopyResults(ctx, this->data_));
    return Base::template GoTo<&CopiedTableProcedure::CopyRegions>();
  }
};

}  // namespace ratchet::master
