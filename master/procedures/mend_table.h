// MendTable: gives a region up, or none, and makes empty regions for the keys of its table that no region has then.
// What an operator asks for, by name, about a region that cannot be opened any more (S84), or about keys that no region
// has.
//
// The region's files go to quarantine; its rows are lost on purpose, and the result says so. The new region has the
// same keys and another name, so no late file action or order about the old one meets it (S31). Where other regions
// have all of the keys, none is made: so one of two overlapping regions is given up.
//
// It holds its table's lock from what it has found until hbase:meta is written. A transition that keeps trying to open
// the region ends, for this procedure, where no server has the region; nothing else is taken from its owner.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"
#include "procedure/author/lock_request.h"

namespace ratchet::master {

struct KeyRange;
struct RegionNode;

class MendTable final : public procedure::StateMachineProcedure<MendTable, pb::MendTableData> {
 public:
  static constexpr std::string_view kTypeName = "MendTable";
  enum class State : StepNo { kPrepare = 1, kMoveFiles = 2, kUpdateMeta = 3, kAssignRegions = 4, kFinish = 5 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &MendTable::Prepare, kNothingToUndo),
        On(State::kMoveFiles, "MOVE_FILES", &MendTable::MoveFiles, kNoReturn),
        On(State::kUpdateMeta, "UPDATE_META", &MendTable::UpdateMeta, kNoReturn),
        On(State::kAssignRegions, "ASSIGN_REGIONS", &MendTable::AssignRegions, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kFinish, "FINISH", &MendTable::Finish, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr GiveUp(const RegionInfo& region);
  static ProcedurePtr FillHoles(const TableName& table);
  // Why the region as it is now is not given up; Ok: it may be. For the request, too.
  [[nodiscard]] static Status MayGiveUp(const RegionNode& node);

  [[nodiscard]] procedure::LockSet Locks() const override;
  // Not while it waits for the region: its owner needs its own lock to let it go.
  [[nodiscard]] bool HoldLocks() const override { return data_.begun(); }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome MoveFiles(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome Finish(StepContext& ctx);

  // Nothing once hbase:meta has these regions with the keys in question and no others, under numbers that no write
  // under way passes (S95).
  std::optional<StepOutcome> ConfirmRows(StepContext& ctx, const std::vector<RegionNode>& counted);
  // Nothing once it is this procedure's; otherwise what the step has to return.
  std::optional<StepOutcome> TakeRegion(StepContext& ctx);
  [[nodiscard]] KeyRange Wanted() const;  // the keys that are to have a region
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
  [[nodiscard]] RegionInfo Region() const { return FromData(data_.region()); }  // only if there is one
  [[nodiscard]] std::vector<RegionInfo> Made() const;
};

}  // namespace ratchet::master
