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

#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "master/procedures/table/new_table.h"
#include "master/procedures/table/replace_table.h"

namespace ratchet::master {

// P declares what differs: `kCopies`: the regions are copies of a snapshot's parts. `kReplaces`: an existing table gets
// the new directory. `kEnables`: the table is enabled at the end.
template <class P>
class NewTableProcedure : public MasterProcedure<P, pb::TableData> {
  using Base = MasterProcedure<P, pb::TableData>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr bool kCopies = false;
  static constexpr bool kReplaces = false;
  static constexpr bool kEnables = true;

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(this->data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const {
    return P::kReplaces ? ClaimReplacedLayout(this->data_) : ClaimLayout(this->data_);
  }
  // S40 (durable commit point): an answer of hbase:meta may be lost. Who ends the procedure then leaves a table whose
  // rows and whose regions in memory are those of two directories.
  [[nodiscard]] Status CheckBypass() const override {
    if (!this->data_.committing() || RATCHET_MUTANT("master.bypass_commit")) return Ok();
    return CommitInProgress();
  }
  void OnRecovered(const procedure::EnvRef& env) override {
    RestoreLockGrant(env.As<MasterEnv>(), this->data_, this->pid());
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
      return Base::template GoTo<&NewTableProcedure::CopyRegions>();
    } else {
      return ToMeta();
    }
  }
  Status ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, this->data_); }
  StepOutcome CopyRegions(StepContext& ctx) {
    std::vector<ProcedurePtr> orders;
    RATCHET_STEP(OrderCopies(ctx, this->data_, orders));
    if (orders.empty()) return ToMeta();
    return Base::template SpawnThen<&NewTableProcedure::ConfirmRegions>(std::move(orders));
  }
  StepOutcome ConfirmRegions(StepContext& ctx) {
    RATCHET_STEP(ReadCopyResults(ctx, this->data_));
    return Base::template GoTo<&NewTableProcedure::CopyRegions>();
  }
  StepOutcome AddToMeta(StepContext& ctx) {
    RATCHET_STEP(AddNewTable(ctx, this->data_));
    return Base::template GoTo<&NewTableProcedure::AssignRegions>();
  }
  Status RemoveFromMeta(StepContext& ctx) { return RemoveNewTable(ctx, this->data_); }
  StepOutcome UpdateMeta(StepContext& ctx) {
    if (!this->data_.committing()) return ToMeta();  // a record of an earlier version, or an operator's rerun
    RATCHET_STEP(ReplaceTable(ctx, this->data_, P::kEnables ? TableState::kEnabling : TableState::kDisabled));
    this->data_.set_committing(false);
    return Base::template GoTo<&NewTableProcedure::ClearLayout>();
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
    return Base::template SpawnThen<&NewTableProcedure::Enable>(AssignNewRegions(this->data_, ctx.pid()));
  }
  StepOutcome Enable(StepContext& ctx) {
    if (!TakenOver(EnvOf(ctx), this->data_, ctx.pid()))
      RATCHET_STEP(SetTableState(ctx, this->data_, TableState::kEnabled, 2));
    return Base::template GoTo<&NewTableProcedure::PostOperation>();
  }
  StepOutcome PostOperation(StepContext& ctx) {
    return Done{TakenOver(EnvOf(ctx), this->data_, ctx.pid()).value_or("")};
  }

 private:
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
