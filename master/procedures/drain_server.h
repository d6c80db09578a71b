// DrainServer: marks a server as decommissioned (state/decommissions.h), moves its regions off it, and tells it to stop
// if that was asked for.
//
//   MARK          the system record; refused for the last server that could have the regions
//   SHOW_MARK     memory = record: from here on placement passes the server by
//   MOVE_REGIONS  a batch of moves, hbase:meta first and alone, because the others write to it; CONFIRM_MOVED; again
//   STOP_SERVER   the answers to its heartbeats tell it to stop; waits until it has ended
//
// The lock is of the server's address, which is what the mark is of. It is let go while regions move (S43): the crash
// procedure of the server, and the registration of the next one there, never wait for it. A server that dies ends the
// drain: its crash procedure opens its regions elsewhere. Taking the mark back (RecommissionServer) ends it too.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/common.h"
#include "master/procedures/drain_data.pb.h"

namespace ratchet::master {

class DrainServer final : public procedure::StateMachineProcedure<DrainServer, pb::DrainServerData> {
 public:
  static constexpr std::string_view kTypeName = "DrainServer";
  enum class State : StepNo {
    kMark = 1,
    kShowMark = 2,
    kMoveRegions = 3,
    kConfirmMoved = 4,
    kStopServer = 5,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kMark, "MARK", &DrainServer::Mark, kNoReturn),
        On(State::kShowMark, "SHOW_MARK", &DrainServer::ShowMark, kNoReturn),
        On(State::kMoveRegions, "MOVE_REGIONS", &DrainServer::MoveRegions, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kConfirmMoved, "CONFIRM_MOVED", &DrainServer::ConfirmMoved, kNoReturn),
        On(State::kStopServer, "STOP_SERVER", &DrainServer::StopServer, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  struct Options {
    bool offload = true;
    bool and_stop = false;
  };
  static ProcedurePtr Make(const ServerName& server, const Options& options);
  // Why the server cannot be drained now; Ok: it can.
  [[nodiscard]] static Status Check(const MasterEnv& env, const ServerName& server);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

  static constexpr int kMovesAtOnce = 64;

 private:
  StepOutcome Mark(StepContext& ctx);
  StepOutcome ShowMark(StepContext& ctx);
  StepOutcome MoveRegions(StepContext& ctx);
  StepOutcome ConfirmMoved(StepContext& ctx);
  StepOutcome StopServer(StepContext& ctx);
  // The server has ended, or was taken back.
  [[nodiscard]] std::optional<StepOutcome> EndedEarly(const MasterEnv& env) const;
  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
};

// The system record of a mark.
[[nodiscard]] std::string DecommissionRecord(const ServerName& server);
// Memory = record; only under the lock of the address.
void ShowDecommissionRecord(MasterEnv& env, const ServerName& server);

}  // namespace ratchet::master
