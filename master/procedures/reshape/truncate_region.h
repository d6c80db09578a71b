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

class TruncateRegion final : public MasterProcedure<TruncateRegion, pb::ReshapeData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "TruncateRegion";
  static constexpr ClaimKinds kClaims = kClaimsRegions;
  static constexpr auto Steps() {
    return std::array{
        On<&TruncateRegion::Prepare>(1, "PREPARE", UndoBy<&TruncateRegion::GiveBack>()),
        On<&TruncateRegion::PreOperation>(2, "TRUNCATE_REGION_PRE_OPERATION", kNothingToUndo, Spawns("FlushRegion")),
        On<&TruncateRegion::MakeOffline>(3, "TRUNCATE_REGION_MAKE_OFFLINE", kNoReturn, Spawns("TransitRegionState")),
        On<&TruncateRegion::CheckClosed>(4, "CHECK_CLOSED_REGION", kNoReturn, kNeedsMeta),
        On<&TruncateRegion::CreateRegion>(5, "CREATE_REGION", kNoReturn, kNeedsMeta),
        On<&TruncateRegion::UpdateMeta>(6, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&TruncateRegion::Remove>(7, "TRUNCATE_REGION_REMOVE", kNoReturn, kNeedsMeta),
        On<&TruncateRegion::MakeOnline>(8, "TRUNCATE_REGION_MAKE_ONLINE", kNoReturn, kNeedsMeta,
                                        Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&TruncateRegion::PostOperation>(9, "TRUNCATE_REGION_POST_OPERATION", kNoReturn),
        On<&TruncateRegion::GiveUp>(10, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                    kReleasesWhileChildrenRun),
        On<&TruncateRegion::RemoveNew>(11, "REMOVE_NEW_REGION", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const RegionInfo& region);

  [[nodiscard]] procedure::LockSet Locks() const override { return ReshapeLocks(data_, {Fresh()}); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] Claims Uses() const { return ReshapeClaims(data_); }
  [[nodiscard]] std::string Describe() const override;
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
