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
#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

class FlushRegion final : public RemoteOrder<FlushRegion, pb::FlushRegionData> {
 public:
  static constexpr std::string_view kTypeName = "FlushRegion";
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const pb::Region& region, const std::string& server, const pb::FlushTableData& table);
  // A flush that only makes a later step shorter: without an answer it ends FAILED after `patience`, so that a server
  // that hangs delays nothing else. A restart of the master begins the time again.
  static ProcedurePtr MakeOptional(const pb::Region& region, const std::string& server, Millis patience);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<Millis> Patience() const {
    return data_.has_patience_ms() ? std::optional(Millis(data_.patience_ms())) : std::nullopt;
  }
  [[nodiscard]] Acted<Result<FlushOrder>> MakeOrder(StepContext& ctx) const;
};

class FlushTable final : public MasterProcedure<FlushTable, pb::FlushTableData> {
 public:
  static constexpr std::string_view kTypeName = "FlushTable";
  static constexpr ClaimKinds kClaims = kClaimsSetback;
  static constexpr auto Steps() {
    return std::array{
        On<&FlushTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta, Given("nothing has changed")),
        On<&FlushTable::FlushRegions>(2, "FLUSH_REGIONS", kNothingToUndo, kNeedsMeta, Spawns<FlushRegion>(),
                                      Given("the regions that are not flushed are recorded")),
        On<&FlushTable::ConfirmFlushed>(3, "CONFIRM_FLUSHED", kNothingToUndo, Given("the ordered flushes have ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableName& table, const std::vector<std::string>& families);
  [[nodiscard]] Claims Uses() const { return ClaimSetback(data_.failed_rounds(), data_.last_refusal()); }
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome FlushRegions(StepContext& ctx);
  StepOutcome ConfirmFlushed(StepContext& ctx);
  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
};

}  // namespace ratchet::master
