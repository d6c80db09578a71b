// DrainServer: marks a server as decommissioned (master/cluster/decommissions.h), moves its regions off it, and stops
// it if requested.
//
//   MARK           writes the system record; fails for the last server that could have the regions
//   SHOW_MARK      copies the record to memory: from here on placement excludes the server
//   MOVE_REGIONS   a batch of moves, hbase:meta first and alone, because the other moves write to it
//   CONFIRM_MOVED  checks the batch, and returns to MOVE_REGIONS until no region is left
//   STOP_SERVER    the answers to heartbeats order the server to stop; waits until it has ended
//
// The mark and the lock belong to the server's address. The lock is released while regions move (S43: no locks while
// regions may wait), so that the crash procedure of the server and the registration of its successor never wait for it.
// The drain ends if the server dies, because its crash procedure opens the regions elsewhere, or if the mark is removed
// (RecommissionServer).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/admin/drain_data.pb.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class DrainServer final : public MasterProcedure<DrainServer, pb::DrainServerData> {
 public:
  static constexpr std::string_view kTypeName = "DrainServer";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&DrainServer::Mark>(1, "MARK", kNoReturn, Given("nothing has changed")),
        On<&DrainServer::ShowMark>(2, "SHOW_MARK", kNoReturn, Given("the system record of the mark is durable")),
        On<&DrainServer::MoveRegions>(3, "MOVE_REGIONS", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                      Given("placement excludes the server")),
        On<&DrainServer::ConfirmMoved>(4, "CONFIRM_MOVED", kNoReturn, Given("the moves of the batch have ended")),
        On<&DrainServer::StopServer>(5, "STOP_SERVER", kNoReturn, Given("the server has no region")),
    };
  }
  using MasterProcedure::MasterProcedure;
  struct Options {
    bool offload = true;
    bool and_stop = false;
  };
  static ProcedurePtr Make(const ServerName& server, const Options& options);
  // Returns why the server cannot be drained now; Ok if it can.
  [[nodiscard]] static Status Check(const MasterEnv& env, const ServerName& server);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

  static constexpr int kMovesAtOnce = 64;

 private:
  StepOutcome Mark(StepContext& ctx);
  StepOutcome ShowMark(StepContext& ctx);
  StepOutcome MoveRegions(StepContext& ctx);
  StepOutcome ConfirmMoved(StepContext& ctx);
  StepOutcome StopServer(StepContext& ctx);
  // Returns the final outcome if the server has ended or its mark was removed.
  [[nodiscard]] std::optional<StepOutcome> EndedEarly(const MasterEnv& env) const;
  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
};

// Returns the key of a mark's system record.
[[nodiscard]] std::string DecommissionRecord(const ServerName& server);
// Copies the record to memory; call only under the lock of the address.
void ShowDecommissionRecord(MasterEnv& env, const ServerName& server);

}  // namespace ratchet::master
