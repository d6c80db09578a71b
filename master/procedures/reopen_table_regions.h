// ReopenTableRegions: has every open region of a table opened with the descriptor `number` or a later one. Child of
// ModifyTable.
//
// A region is done when it is OPEN under such a descriptor, at rest and not open, or gone; "opened since" proves
// nothing, because an order that was made before the change may end after it (S48). Regions are opened again in
// batches: one, then two, four, up to a limit, so that a descriptor that no region opens with stops at the first. It
// holds no lock: a region may take for ever, and what it waits for may need the table's lock (S43).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"

namespace ratchet::master {

struct RegionNode;

class ReopenTableRegions final
    : public procedure::StateMachineProcedure<ReopenTableRegions, pb::ReopenTableRegionsData> {
 public:
  static constexpr std::string_view kTypeName = "ReopenTableRegions";
  enum class State : StepNo { kGetRegions = 1, kReopenRegions = 2, kConfirmReopened = 3 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kGetRegions, "GET_REGIONS", &ReopenTableRegions::GetRegions, kNoReturn),
        On(State::kReopenRegions, "REOPEN_REGIONS", &ReopenTableRegions::ReopenRegions, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kConfirmReopened, "CONFIRM_REOPENED", &ReopenTableRegions::ConfirmReopened, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& directory, std::uint64_t number);
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

  // Whether the region needs nothing any more, so that the table's descriptor from `number` on is the one it has, or
  // the one that it will be opened with.
  [[nodiscard]] static bool IsDone(const RegionNode& node, std::uint64_t number);

 private:
  StepOutcome GetRegions(StepContext& ctx);
  StepOutcome ReopenRegions(StepContext& ctx);
  StepOutcome ConfirmReopened(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

}  // namespace ratchet::master
