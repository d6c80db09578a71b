// CompactTable: compacts every region of a table, and shows its progress. CompactRegion: one order to the server that
// has the region open, which answers when the compaction is done.
//
// A region that is not open is skipped. The procedure waits for a region in transition, and for a server whose
// compactions are switched off. Neither procedure holds a lock (S43: no locks while regions may wait). Compaction
// orders do not move regions, so they may be abandoned (S47: orders without ownership) and an operator may abort them
// at any time; a server finishes a compaction that it has started.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/env/orders.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class CompactTable final : public procedure::StateMachineProcedure<CompactTable, pb::CompactTableData> {
 public:
  static constexpr std::string_view kTypeName = "CompactTable";
  enum class State : StepNo { kPrepare = 1, kCompactRegions = 2, kConfirmCompacted = 3 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &CompactTable::Prepare, kNothingToUndo),
        On(State::kCompactRegions, "COMPACT_REGIONS", &CompactTable::CompactRegions, kNothingToUndo,
           procedure::Spawns("CompactRegion")),
        On(State::kConfirmCompacted, "CONFIRM_COMPACTED", &CompactTable::ConfirmCompacted, kNothingToUndo),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // `major`: merges all files of each region into one, without deleted and expired cells.
  static ProcedurePtr Make(const TableName& table, bool major);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome CompactRegions(StepContext& ctx);
  StepOutcome ConfirmCompacted(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

class CompactRegion final : public procedure::StateMachineProcedure<CompactRegion, pb::CompactRegionData> {
 public:
  static constexpr std::string_view kTypeName = "CompactRegion";
  enum class State : StepNo { kDispatch = 1 };
  static constexpr auto Steps() {
    return std::array{On(State::kDispatch, "DISPATCH", &CompactRegion::Dispatch, kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  // The result is a pb::OrderResult.
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, bool major);
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
};

}  // namespace ratchet::master
