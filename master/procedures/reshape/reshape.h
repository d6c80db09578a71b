// Shared by splits, merges and truncations of regions: regions (the parents) are closed, other regions (the children)
// are built from them, and one commit of hbase:meta replaces the parents by the children (docs/lifecycle.md).
//
// A close cannot be undone. So an operation that cannot continue after the close rolls back in forward steps: it opens
// the parents again, archives the new directories, and fails. Each function below is the work of one state. A function
// with an optional outcome returns nullopt when it is done, otherwise the outcome that the step must return.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/common.h"
#include "master/procedures/snapshot/snapshot.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

// Transition number of the rows that a commit creates. It is above the number of a table creation's rows, whose region
// ids belong to the table (S66: table row last in, first out).
inline constexpr std::uint64_t kBuiltTransition = 2;

// ---- views of the data ----
[[nodiscard]] std::vector<RegionInfo> ParentsOf(const pb::ReshapeData& data);
[[nodiscard]] std::vector<RegionInfo> ChildrenOf(const pb::ReshapeData& data);
// Its parents and children.
[[nodiscard]] Claims ReshapeClaims(const pb::ReshapeData& data);
// Locks parents and children; empty once the locks are released (S43: no locks while regions may wait).
[[nodiscard]] procedure::LockSet ReshapeLocks(const pb::ReshapeData& data, const std::vector<RegionInfo>& children);
// An operator must not end the procedure while its commit may be in progress (S40: durable commit point).
[[nodiscard]] Status CheckReshapeBypass(const pb::ReshapeData& data);

// ---- work of the states ----

// S42 (look again after locking): takes ownership of parents and children, and sets the parents to `parents_state`.
// Returns Ok when done.
[[nodiscard]] Status OwnRegions(MasterEnv& env, pb::ReshapeData& data, ProcId pid, RegionState parents_state,
                                RegionState children_state);
// Undoes OwnRegions, also a partial one.
void GiveBackRegions(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
// Restores the ownership after a restart of the master.
void RestoreReshape(MasterEnv& env, const pb::ReshapeData& data, ProcId pid, RegionState children_state);

// A server that does not answer within two seconds is not waited for.
[[nodiscard]] std::vector<ProcedurePtr> FlushParents(const pb::ReshapeData& data);
[[nodiscard]] std::vector<ProcedurePtr> CloseParents(const pb::ReshapeData& data);
// Reads the result of each close. Returns false if one was not clean; sets the data's field "why".
[[nodiscard]] bool ReadCloseResults(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] std::optional<StepOutcome> MakeChildDirectories(StepContext& ctx, const pb::ReshapeData& data);
// ChooseBuilder chooses and records a server. BuildChildren returns the child procedure to spawn.
[[nodiscard]] std::optional<StepOutcome> ChooseBuilder(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] ProcedurePtr BuildChildren(StepContext& ctx, const pb::ReshapeData& data);
enum class BuildVerdict : std::uint8_t { kBuilt, kAgain, kNotClean };
[[nodiscard]] BuildVerdict ReadBuildResult(StepContext& ctx, pb::ReshapeData& data);
// S40, S41 (atomic conditional commit): sends the commit until its outcome is known. `make` builds the commit from the
// parents' in-memory state.
using MakeCommit = std::function<MetaCommit(const std::vector<RegionNode>& parents)>;
[[nodiscard]] std::optional<StepOutcome> CommitReshape(StepContext& ctx, const pb::ReshapeData& data,
                                                       const MakeCommit& make);
// Removes the parents' rows, each with exactly the transition number in memory, and creates the child's row. The child
// inherits the merged regions that the parents' rows name (S103: merged parents are passed on).
[[nodiscard]] MetaCommit ReplaceParents(const std::vector<RegionNode>& parents, RegionRow child);
// Builds a parent's node from the procedure's data.
[[nodiscard]] RegionNode NodeOfParent(const pb::RegionView& view, ProcId owner);
[[nodiscard]] std::string EncodedNameOfParent(const pb::RegionView& view);
// Builds a child's node, for before and after its row is written.
[[nodiscard]] RegionNode NodeOfChild(const RegionInfo& child, RegionState state, ProcId owner);
// Returns the children's rows that the commit creates.
[[nodiscard]] std::vector<RegionRow> ChildRows(const pb::ReshapeData& data);
// Sets the children to OFFLINE in memory, without an owner.
void ShowChildren(MasterEnv& env, const pb::ReshapeData& data);
// Updates memory after the commit: removes the parents, and adds the child with the inherited merged regions and
// `merged_from`.
void ShowReplaced(MasterEnv& env, const pb::ReshapeData& data, std::vector<RegionInfo> merged_from);
[[nodiscard]] std::vector<ProcedurePtr> AssignChildren(const pb::ReshapeData& data);
// Rollback: releases the parents, and returns procedures that open them.
[[nodiscard]] std::vector<ProcedurePtr> ReopenParents(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
void LogGivenUp(StepContext& ctx, const std::string& subject, const pb::ReshapeData& data);
[[nodiscard]] Error RolledBack(const std::string& subject, std::string_view open_again, const pb::ReshapeData& data);
// Archives the children's directories, and removes the children from memory.
[[nodiscard]] std::optional<StepOutcome> RemoveChildren(StepContext& ctx, const pb::ReshapeData& data);

// ---- the states that splits, merges and truncations share ----
// P provides its rows, UpdateMeta, and:
//
//   kBuilds            a server builds the children; otherwise they begin empty
//   kParents, kChildren, kOpenAgain   states of the regions while they are owned; the end of the failure's message
//   NewRegions()       the children
//   Subject()          for messages, such as "the split of region 56f9..."
//   Allows(env, table) why the operation is not allowed
//   Reserve(env)       the reservation against the namespace's limits
template <class P>
class ReshapeProcedure : public MasterProcedure<P, pb::ReshapeData>, public procedure::PresentStateOnly {
  using Base = MasterProcedure<P, pb::ReshapeData>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsRegions;
  static constexpr bool kBuilds = true;
  static constexpr RegionState kParents = RegionState::kMerging;
  static constexpr RegionState kChildren = RegionState::kMergingNew;
  static constexpr std::string_view kOpenAgain = "it is open again";

  [[nodiscard]] procedure::LockSet Locks() const override { return ReshapeLocks(this->data_, self().NewRegions()); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(this->data_); }
  [[nodiscard]] Claims Uses() const { return ReshapeClaims(this->data_); }
  void OnRecovered(const procedure::EnvRef& env) override {
    RestoreReshape(env.As<MasterEnv>(), this->data_, this->pid(), P::kChildren);
  }
  [[nodiscard]] Status Allows(const MasterEnv& /*env*/, const TableNode& /*table*/) const { return Ok(); }
  [[nodiscard]] Status Reserve(MasterEnv& /*env*/) const { return Ok(); }

 protected:
  StepOutcome Prepare(StepContext& ctx) {
    MasterEnv& env = EnvOf(ctx);
    const TableName name = FirstParent().table;
    const auto table = env.tables.Get(name);
    if (!table) return Fail{TableNotFound(name)};
    if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(name)};
    if (Status allowed = self().Allows(env, *table); !allowed.ok()) return Fail{allowed.error()};
    if (Status free = NotHeld(env, name); !free.ok()) return Fail{free.error()};
    if (Status room = self().Reserve(env); !room.ok()) return Fail{room.error()};
    SetChildren();
    const Status owned = OwnRegions(env, this->data_, this->pid(), P::kParents, P::kChildren);
    if (!owned.ok()) return Fail{owned.error()};
    return Base::template GoTo<&ReshapeProcedure::Flush>();
  }
  Status GiveBack(StepContext& ctx) {
    SetChildren();
    GiveBackRegions(EnvOf(ctx), this->data_, this->pid());
    this->data_.set_begun(false);  // a restart from here on restores nothing
    return Ok();
  }
  // Flushes, so that the close is short; the result does not matter.
  StepOutcome Flush(StepContext& /*ctx*/) {
    return Base::template SpawnThen<&ReshapeProcedure::Close>(FlushParents(this->data_));
  }
  StepOutcome Close(StepContext& /*ctx*/) {
    return Base::template SpawnThen<&ReshapeProcedure::CheckClosed>(CloseParents(this->data_));
  }
  // If one parent is lost, the whole operation is rolled back.
  StepOutcome CheckClosed(StepContext& ctx) {
    if (!ReadCloseResults(ctx, this->data_)) return Base::template GoTo<&ReshapeProcedure::GiveUp>();
    return Base::template GoTo<&ReshapeProcedure::MakeDirectories>();
  }
  StepOutcome MakeDirectories(StepContext& ctx) {
    RATCHET_STEP(MakeChildDirectories(ctx, this->data_));
    if constexpr (P::kBuilds) {
      return Base::template GoTo<&ReshapeProcedure::Build>();
    } else {
      this->data_.set_built(0);  // no build made the region. From here on the commit may be in progress
      return Base::template GoTo<&P::UpdateMeta>();
    }
  }
  StepOutcome Build(StepContext& ctx) {
    RATCHET_STEP(ChooseBuilder(ctx, this->data_));
    return Base::template SpawnThen<&ReshapeProcedure::ConfirmBuild>(BuildChildren(ctx, this->data_));
  }
  StepOutcome ConfirmBuild(StepContext& ctx) {
    switch (ReadBuildResult(ctx, this->data_)) {
      case BuildVerdict::kBuilt: return Base::template GoTo<&P::UpdateMeta>();
      case BuildVerdict::kAgain: return Base::template GoTo<&ReshapeProcedure::Build>();
      case BuildVerdict::kNotClean: break;
    }
    return Base::template GoTo<&ReshapeProcedure::GiveUp>();
  }
  StepOutcome OpenChildren(StepContext& /*ctx*/) {
    this->data_.set_released(true);
    return Base::template SpawnThen<&ReshapeProcedure::Finish>(AssignChildren(this->data_));
  }
  StepOutcome Finish(StepContext& /*ctx*/) { return Done{}; }
  // HBASE-30334: opens all parents again before the failure is reported.
  StepOutcome GiveUp(StepContext& ctx) {
    LogGivenUp(ctx, self().Subject(), this->data_);
    this->data_.set_released(true);
    return Base::template SpawnThen<&ReshapeProcedure::RemoveNew>(ReopenParents(EnvOf(ctx), this->data_, this->pid()));
  }
  StepOutcome RemoveNew(StepContext& ctx) {
    RATCHET_STEP(RemoveChildren(ctx, this->data_));
    return EndFailed{RolledBack(self().Subject(), P::kOpenAgain, this->data_)};
  }

  [[nodiscard]] RegionInfo FirstParent() const { return FromData(this->data_.parents(0).region()); }

 private:
  void SetChildren() {
    this->data_.clear_children();
    for (const RegionInfo& child : self().NewRegions()) *this->data_.add_children() = ToData(child);
  }
  [[nodiscard]] const P& self() const { return static_cast<const P&>(*this); }
};

}  // namespace ratchet::master
