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

#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

class CompactRegion final : public RemoteOrder<CompactRegion, pb::CompactRegionData> {
 public:
  static constexpr std::string_view kTypeName = "CompactRegion";
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, bool major);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] Acted<Result<CompactOrder>> MakeOrder(StepContext& ctx) const;
};

class CompactTable final : public MasterProcedure<CompactTable, pb::CompactTableData> {
 public:
  static constexpr std::string_view kTypeName = "CompactTable";
  static constexpr ClaimKinds kClaims = kClaimsSetback;
  static constexpr auto Steps() {
    return std::array{
        On<&CompactTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta, Given("nothing has changed")),
        On<&CompactTable::CompactRegions>(2, "COMPACT_REGIONS", kNothingToUndo, kNeedsMeta, Spawns<CompactRegion>(),
                                          Given("the regions that are not asked yet are recorded")),
        On<&CompactTable::ConfirmCompacted>(3, "CONFIRM_COMPACTED", kNothingToUndo,
                                            Given("the orders of the round have ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `major`: merges all files of each region into one, without deleted and expired cells.
  static ProcedurePtr Make(const TableName& table, bool major);
  [[nodiscard]] Claims Uses() const { return ClaimSetback(data_.failed_rounds(), data_.last_refusal()); }
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome CompactRegions(StepContext& ctx);
  StepOutcome ConfirmCompacted(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

}  // namespace ratchet::master
