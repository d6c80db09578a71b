// The states that CreateTable, CloneSnapshot, TruncateTable and RestoreSnapshot share: they make a directory with new
// regions, write the regions to hbase:meta, and open them.
//
//   new table:    PREPARE -> MakeLayout [-> CopyRegions <-> ConfirmRegions] -> AddToMeta -> AssignRegions -> Enable
//   replacement:  PREPARE -> SetDisabled -> MakeLayout [-> CopyRegions ...] -> UpdateMeta -> ClearLayout [->
//   AssignRegions
//                 -> Enable]
//
// All end with PostOperation. Each type has its own rows; their numbers and names are stored.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/rights/rights_steps.h"
#include "master/procedures/table/new_table.h"
#include "master/procedures/table/replace_table.h"

namespace ratchet::master {

// P declares what differs: `kCopies`: the regions are copies of a snapshot's parts
// (CopiedTableProcedure). `kReplaces`: an existing table gets
// the new directory. `kEnables`: the table is enabled at the end. `kTakesRights`: the table may lose families, with
// their rights.
template <class P>
class NewTableProcedure : public TableProcedure<P> {
  using Base = TableProcedure<P>;

 public:
  using Base::Base;
  static constexpr bool kCopies = false;
  static constexpr bool kReplaces = false;
  static constexpr bool kEnables = true;
  static constexpr bool kTakesRights = false;

  [[nodiscard]] Claims Uses() const {
    return P::kReplaces ? ClaimReplacedLayout(this->data_) : ClaimLayout(this->data_);
  }
  // S40 (durable commit point): an answer of hbase:meta may be lost. Who ends the procedure then leaves a table whose
  // rows and whose regions in memory are those of two directories.
  [[nodiscard]] Status CheckBypass() const override {
    if (!this->data_.committing() || RATCHET_MUTANT("master.bypass_commit")) return Ok();
    return CommitInProgress();
  }

 protected:
  // The later commit expects the table's row with exactly this transition number.
  StepOutcome SetDisabled(StepContext& ctx) {
    RATCHET_STEP(SetTableState(ctx, this->data_, TableState::kDisabled, 0));
    return Base::template GoTo<&NewTableProcedure::MakeLayout>();
  }
  StepOutcome MakeLayout(StepContext& ctx) {
    RATCHET_STEP(MakeNewLayout(ctx, this->data_));
    if constexpr (P::kCopies) {
      return Base::template GoTo<&P::CopyRegions>();
    } else {
      return ToMeta();
    }
  }
  Status ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, this->data_); }
  StepOutcome AddToMeta(StepContext& ctx) {
    RATCHET_STEP(AddNewTable(ctx, this->data_));
    StageOwnersRights(ctx, this->data_);
    return Base::template GoTo<&NewTableProcedure::AssignRegions>();
  }
  Status RemoveFromMeta(StepContext& ctx) {
    UnstageOwnersRights(ctx, this->data_);
    return RemoveNewTable(ctx, this->data_);
  }
  StepOutcome UpdateMeta(StepContext& ctx) {
    if (!this->data_.committing()) return ToMeta();  // a record of an earlier version, or an operator's rerun
    RATCHET_STEP(ReplaceTable(ctx, this->data_, P::kEnables ? TableState::kEnabling : TableState::kDisabled));
    this->data_.set_committing(false);
    if constexpr (P::kTakesRights) {
      const auto now = DescriptorIn(this->data_);
      const bool taken = now.ok() && TakeRightsOfDroppedFamilies(ctx, *now);
      if (StageRestoredRights(ctx, this->data_) || taken) return Base::template GoTo<&NewTableProcedure::TakeRights>();
    }
    return Base::template GoTo<&NewTableProcedure::ClearLayout>();
  }
  // S136 (a name made again has no old right)
  StepOutcome TakeRights(StepContext& ctx) {
    ShowRightsWithin(ctx, rights::Scope::Table(TableOf(this->data_)));
    ShowRestoredRights(ctx, this->data_);
    std::vector<ProcedurePtr> orders = TellRights(ctx);
    if (orders.empty()) return Base::template GoTo<&NewTableProcedure::ClearLayout>();
    return Base::template SpawnThen<&NewTableProcedure::ClearLayout>(std::move(orders));
  }
  StepOutcome ClearLayout(StepContext& ctx) {
    RATCHET_STEP(ArchiveOldLayout(ctx, this->data_));
    if constexpr (P::kEnables) {
      return Base::template GoTo<&NewTableProcedure::AssignRegions>();
    } else {
      return Base::template GoTo<&NewTableProcedure::PostOperation>();
    }
  }
  StepOutcome AssignRegions(StepContext& ctx) {
    std::vector<ProcedurePtr> children = AssignNewRegions(ctx, this->data_);
    if constexpr (!P::kReplaces) {
      if (ShowOwnersRights(ctx, this->data_)) std::ranges::move(TellRights(ctx), std::back_inserter(children));
    }
    return Base::template SpawnThen<&NewTableProcedure::Enable>(std::move(children));
  }
  StepOutcome Enable(StepContext& ctx) {
    if (!TakenOver(EnvOf(ctx), this->data_, ctx.pid()))
      RATCHET_STEP(SetTableState(ctx, this->data_, TableState::kEnabled, 2));
    return Base::template GoTo<&NewTableProcedure::PostOperation>();
  }
  StepOutcome PostOperation(StepContext& ctx) {
    return Done{TakenOver(EnvOf(ctx), this->data_, ctx.pid()).value_or("")};
  }

  StepOutcome ToMeta() {
    if constexpr (P::kReplaces) {
      this->data_.set_committing(true);
      return Base::template GoTo<&NewTableProcedure::UpdateMeta>();
    } else {
      return Base::template GoTo<&NewTableProcedure::AddToMeta>();
    }
  }
};

}  // namespace ratchet::master
