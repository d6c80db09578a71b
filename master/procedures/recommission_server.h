// RecommissionServer: takes the mark of a decommissioned server back, and moves regions to the server if the request
// names some: those that it had before.
//
// Ends a DrainServer of the same address that is still at work. Named regions that are gone, not open or in transition
// are left where they are; without an online server at the address all are. Lock: as DrainServer's.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/common.h"
#include "master/procedures/drain_data.pb.h"

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
  // `server`: only its address counts. `regions`: encoded names.
  static ProcedurePtr Make(const ServerName& server, const std::vector<std::string>& regions);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] std::string Describe() const override;

  static constexpr int kMovesAtOnce = 64;
  static constexpr std::size_t kRegionsAtMost = 10'000;  // of one request: their names are part of each record

 private:
  StepOutcome Unmark(StepContext& ctx);
  StepOutcome ShowMark(StepContext& ctx);
  StepOutcome MoveRegions(StepContext& ctx);
  StepOutcome ConfirmMoved(StepContext& ctx);
  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
  [[nodiscard]] std::string WhatWasDone() const;
};

}  // namespace ratchet::master
