// TruncateRegion: replaces an open region by an empty one. HBase's states, and the protocol of a merge
// (docs/lifecycle.md) without a build: closes the region, replaces it in one commit of hbase:meta by a new region with
// the same keys, archives its directory, opens the new region. An unclean close leads to GIVE_UP: the region is opened
// again with all of its rows.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/reshape/reshape.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class TruncateRegion final : public procedure::StateMachineProcedure<TruncateRegion, pb::ReshapeData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "TruncateRegion";
  enum class State : StepNo {
    kPrepare = 1,
    kPreOperation = 2,
    kMakeOffline = 3,
    kCheckClosed = 4,
    kCreateRegion = 5,
    kUpdateMeta = 6,
    kRemove = 7,
    kMakeOnline = 8,
    kPostOperation = 9,
    kGiveUp = 10,
    kRemoveNew = 11,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &TruncateRegion::Prepare, UndoBy(&TruncateRegion::GiveBack)),
        On(State::kPreOperation, "TRUNCATE_REGION_PRE_OPERATION", &TruncateRegion::PreOperation, kNothingToUndo,
           procedure::Spawns("FlushRegion")),
        On(State::kMakeOffline, "TRUNCATE_REGION_MAKE_OFFLINE", &TruncateRegion::MakeOffline, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kCheckClosed, "CHECK_CLOSED_REGION", &TruncateRegion::CheckClosed, kNoReturn),
        On(State::kCreateRegion, "CREATE_REGION", &TruncateRegion::CreateRegion, kNoReturn),
        On(State::kUpdateMeta, "UPDATE_META", &TruncateRegion::UpdateMeta, kNoReturn),
        On(State::kRemove, "TRUNCATE_REGION_REMOVE", &TruncateRegion::Remove, kNoReturn),
        On(State::kMakeOnline, "TRUNCATE_REGION_MAKE_ONLINE", &TruncateRegion::MakeOnline, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kPostOperation, "TRUNCATE_REGION_POST_OPERATION", &TruncateRegion::PostOperation, kNoReturn),
        On(State::kGiveUp, "GIVE_UP", &TruncateRegion::GiveUp, kNoReturn, procedure::Spawns("TransitRegionState"),
           kReleasesWhileChildrenRun),
        On(State::kRemoveNew, "REMOVE_NEW_REGION", &TruncateRegion::RemoveNew, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const RegionInfo& region);

  [[nodiscard]] procedure::LockSet Locks() const override { return ReshapeLocks(data_, {Fresh()}); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome MakeOffline(StepContext& ctx);
  StepOutcome CheckClosed(StepContext& ctx);
  StepOutcome CreateRegion(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome Remove(StepContext& ctx);
  StepOutcome MakeOnline(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  StepOutcome GiveUp(StepContext& ctx);
  StepOutcome RemoveNew(StepContext& ctx);
  Status GiveBack(StepContext& ctx);

  [[nodiscard]] RegionInfo Old() const { return FromData(data_.parents(0).region()); }
  // Returns a region with the same keys and a new id, because names are never reused (S37: numbered build output).
  [[nodiscard]] RegionInfo Fresh() const;
};

}  // namespace ratchet::master
