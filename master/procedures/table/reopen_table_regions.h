// ReopenTableRegions: reopens every open region of a table with the descriptor `number` or a later one. Child of
// ModifyTable.
//
// A region is done when it is OPEN with such a descriptor, gone, or neither open nor in transition. An opening after
// the change proves nothing, because its order may have been made before the change (S48: schema pinned in the order).
// Regions are reopened in batches of one, two, four, up to a limit, so that a descriptor with which no region opens
// stops at the first region. It holds no lock: a region may never open, and its transition may need the table's lock
// (S43: no locks while regions may wait).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

struct RegionNode;

class ReopenTableRegions final : public MasterProcedure<ReopenTableRegions, pb::ReopenTableRegionsData> {
 public:
  static constexpr std::string_view kTypeName = "ReopenTableRegions";
  static constexpr ClaimKinds kClaims = kClaimsDescriptors;
  static constexpr auto Steps() {
    return std::array{
        On<&ReopenTableRegions::GetRegions>(1, "GET_REGIONS", kNoReturn, kNeedsMeta,
                                            Given("the new descriptor is durable")),
        On<&ReopenTableRegions::ReopenRegions>(2, "REOPEN_REGIONS", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                               Given("the regions of the batch are recorded")),
        On<&ReopenTableRegions::ConfirmReopened>(3, "CONFIRM_REOPENED", kNoReturn, kNeedsMeta,
                                                 Given("the transitions of the batch have ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& directory, std::uint64_t number);
  [[nodiscard]] Claims Uses() const;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

  // Returns true if the region is done: it is, or will next be, open with the descriptor `number` or a later one.
  [[nodiscard]] static bool IsDone(const RegionNode& node, std::uint64_t number);

 private:
  StepOutcome GetRegions(StepContext& ctx);
  StepOutcome ReopenRegions(StepContext& ctx);
  StepOutcome ConfirmReopened(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

}  // namespace ratchet::master
