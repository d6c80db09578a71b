// FlushTable: flushes every region of a table: all writes acknowledged before the request are then in store files.
// FlushRegion: one order to the server that has the region open.
//
// A region that is not open counts as flushed: by its close, or by the opening after its server's death. The procedure
// waits for a region in transition. Neither holds a lock (S43: no locks while regions may wait). Flush orders do not
// move regions, so they may be abandoned (S47: orders without ownership), and an operator may abort a flush at any
// time.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "master/env/orders.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class FlushTable final : public procedure::StateMachineProcedure<FlushTable, pb::FlushTableData> {
 public:
  static constexpr std::string_view kTypeName = "FlushTable";
  enum class State : StepNo { kPrepare = 1, kFlushRegions = 2, kConfirmFlushed = 3 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &FlushTable::Prepare, kNothingToUndo),
        On(State::kFlushRegions, "FLUSH_REGIONS", &FlushTable::FlushRegions, kNothingToUndo,
           procedure::Spawns("FlushRegion")),
        On(State::kConfirmFlushed, "CONFIRM_FLUSHED", &FlushTable::ConfirmFlushed, kNothingToUndo),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableName& table, const std::vector<std::string>& families);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome FlushRegions(StepContext& ctx);
  StepOutcome ConfirmFlushed(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

class FlushRegion final : public procedure::StateMachineProcedure<FlushRegion, pb::FlushRegionData> {
 public:
  static constexpr std::string_view kTypeName = "FlushRegion";
  enum class State : StepNo { kDispatch = 1 };
  static constexpr auto Steps() {
    return std::array{On(State::kDispatch, "DISPATCH", &FlushRegion::Dispatch, kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  // The result is a pb::OrderResult.
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, const pb::FlushTableData& table);
  // A flush that only makes a later step shorter: without an answer it ends FAILED after `patience`, so that a server
  // that hangs delays nothing else. A restart of the master begins the time again.
  static ProcedurePtr MakeOptional(const pb::Region& region, const std::string& server, Millis patience);
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
};

}  // namespace ratchet::master
