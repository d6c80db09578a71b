// RecommissionServer: removes the mark of a decommissioned server, and moves the regions that the request names to it.
//
// Ends a running DrainServer of the same address. Named regions that are gone, not open or in transition are not moved;
// without an online server at the address none is. Lock: as in DrainServer.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/admin/drain_data.pb.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class RecommissionServer final
    : public procedure::StateMachineProcedure<RecommissionServer, pb::RecommissionServerData> {
 public:
  static constexpr std::string_view kTypeName = "RecommissionServer";
  enum class State : StepNo { kUnmark = 1, kShowMark = 2, kMoveRegions = 3, kConfirmMoved = 4 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kUnmark, "UNMARK", &RecommissionServer::Unmark, kNoReturn),
        On(State::kShowMark, "SHOW_MARK", &RecommissionServer::ShowMark, kNoReturn),
        On(State::kMoveRegions, "MOVE_REGIONS", &RecommissionServer::MoveRegions, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kConfirmMoved, "CONFIRM_MOVED", &RecommissionServer::ConfirmMoved, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
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
