// MendTable: may give up a region, and makes empty regions for keys that no region of the table covers. An operator
// requests this for a region that can no longer be opened (S84: give up a region by name), or for uncovered keys.
//
// The region's files are moved to quarantine; its rows are lost on purpose, and the result states this. The new region
// has the same keys and another name, so late file actions and orders for the old region cannot affect it (S31: names
// are never reused). If other regions cover all of the keys, no region is made; this resolves an overlap of two
// regions.
//
// It holds the table's lock from its checks until hbase:meta is written. A transition that keeps failing to open the
// region ends in favour of this procedure if no server has the region; other owners are not interrupted.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

struct KeyRange;
struct RegionNode;

class MendTable final : public MasterProcedure<MendTable, pb::MendTableData> {
 public:
  static constexpr std::string_view kTypeName = "MendTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&MendTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta,
                                Given("the table is locked; nothing has changed")),
        On<&MendTable::MoveFiles>(2, "MOVE_FILES", kNoReturn,
                                  Given("the new regions are recorded; no server has the region that is given up")),
        On<&MendTable::UpdateMeta>(3, "UPDATE_META", kNoReturn, kNeedsMeta,
                                   Given("the new directories exist; the old files are in quarantine")),
        On<&MendTable::AssignRegions>(4, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                      kReleasesWhileChildrenRun,
                                      Given("hbase:meta names the new regions and not the old one")),
        On<&MendTable::Finish>(5, "FINISH", kNoReturn, Given("the transitions of the new regions have ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr GiveUp(const RegionInfo& region);
  static ProcedurePtr FillHoles(const TableName& table);
  // Returns why the region cannot be given up now; Ok if it can. Called for the request, and again in the procedure.
  [[nodiscard]] static Status MayGiveUp(const RegionNode& node);

  [[nodiscard]] procedure::LockSet Locks() const override;
  // Holds no lock while it waits for the region, because the region's owner needs its lock to release the region.
  [[nodiscard]] bool HoldLocks() const override { return data_.begun(); }
  [[nodiscard]] Claims Uses() const;
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome MoveFiles(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome Finish(StepContext& ctx);

  // Returns nullopt when hbase:meta has exactly these regions for the keys in question, with transition numbers that no
  // write in progress exceeds (S95: repair counts certain rows).
  std::optional<StepOutcome> ConfirmRows(StepContext& ctx, const std::vector<RegionNode>& counted);
  // Returns nullopt when this procedure owns the region; otherwise the outcome that the step must return.
  std::optional<StepOutcome> OwnRegion(StepContext& ctx);
  [[nodiscard]] KeyRange Wanted() const;  // the keys that must have a region
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
  [[nodiscard]] RegionInfo Region() const { return FromData(data_.region()); }  // call only if `data_` has a region
  [[nodiscard]] std::vector<RegionInfo> Made() const;
};

}  // namespace ratchet::master
