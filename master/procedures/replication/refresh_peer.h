// RefreshPeer: sends the current list of replication peers to one region server. Ends when the server has answered or
// is no longer online. The list is built at each send, so that a resent order never carries an old list (the list's
// number decides, see PeerDirectory).
#pragma once

#include <array>
#include <string>

#include "master/env/orders.h"
#include "master/procedures/core/common.h"
#include "master/procedures/replication/peer_data.pb.h"

namespace ratchet::master {

class RefreshPeer final : public MasterProcedure<RefreshPeer, pb::RefreshPeerData> {
 public:
  static constexpr std::string_view kTypeName = "RefreshPeer";
  static constexpr auto Steps() { return std::array{On<&RefreshPeer::Dispatch>(1, "DISPATCH", kNothingToUndo)}; }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const std::string& peer, const std::string& server);
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] std::string Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
};

}  // namespace ratchet::master
