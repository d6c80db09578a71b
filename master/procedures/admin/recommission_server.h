// RecommissionServer: removes the mark of a decommissioned server, and moves the regions that the request names to it.
//
// Ends a running DrainServer of the same address. Named regions that are gone, not open or in transition are not moved;
// without an online server at the address none is. Lock: as in DrainServer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/admin/drain_data.pb.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class RecommissionServer final : public MasterProcedure<RecommissionServer, pb::RecommissionServerData> {
 public:
  static constexpr std::string_view kTypeName = "RecommissionServer";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&RecommissionServer::Unmark>(1, "UNMARK", kNoReturn, Given("nothing has changed")),
        On<&RecommissionServer::ShowMark>(2, "SHOW_MARK", kNoReturn, Given("the system record of the mark is removed")),
        On<&RecommissionServer::MoveRegions>(3, "MOVE_REGIONS", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                             Given("placement may choose the server again")),
        On<&RecommissionServer::ConfirmMoved>(4, "CONFIRM_MOVED", kNoReturn, kNeedsMeta,
                                              Given("the moves of the batch have ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `server`: only its address is used. `regions`: encoded names.
  static ProcedurePtr Make(const ServerName& server, const std::vector<std::string>& regions);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] procedure::Description Describe() const override;

  static constexpr int kMovesAtOnce = 64;
  // limit of one request, because each record has all their names
  static constexpr std::size_t kRegionsAtMost = 10'000;

 private:
  StepOutcome Unmark(StepContext& ctx);
  StepOutcome ShowMark(StepContext& ctx);
  StepOutcome MoveRegions(StepContext& ctx);
  StepOutcome ConfirmMoved(StepContext& ctx);
  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
  [[nodiscard]] std::string WhatWasDone() const;
};

}  // namespace ratchet::master
