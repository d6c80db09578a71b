#include "chaos/cluster/zookeeper_ensemble.h"

#include <utility>

#include "common/base/check.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kTick{200};
constexpr Millis kAsked{200};  // a paused server accepts the connection and never answers

}  // namespace

Result<std::vector<ZooKeeperPeer>> ZooKeeperEnsemble::PickPeers(int members) {
  std::vector<ZooKeeperPeer> peers;
  for (int i = 0; members > 1 && i < members; ++i) {
    ZooKeeperPeer peer;
    RATCHET_ASSIGN(peer.quorum_port, PickFreePort());
    RATCHET_ASSIGN(peer.election_port, PickFreePort());
    peers.push_back(peer);
  }
  return peers;
}

Result<ZooKeeperEnsemble> ZooKeeperEnsemble::Prepare(const std::filesystem::path& dir,
                                                     const std::vector<ZooKeeperMember>& members,
                                                     const std::vector<ZooKeeperPeer>& peers, bool dies_with_us) {
  if (members.empty() || peers.size() != (members.size() == 1 ? 0 : members.size())) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{} ZooKeeper members cannot use the ports of {} peers", members.size(), peers.size()));
  }
  ZooKeeperEnsemble ensemble;
  for (const auto& member : members) {
    const int number = peers.empty() ? 0 : static_cast<int>(ensemble.servers_.size()) + 1;
    ZooKeeperSpec spec{dir / member.name, member.log, member.port, kTick, dies_with_us, number, peers};
    RATCHET_ASSIGN(auto process, ZooKeeperProcess::Prepare(std::move(spec)));
    ensemble.servers_.push_back({member.name, std::move(process)});
  }
  return ensemble;
}

std::string ZooKeeperEnsemble::addresses() const {
  std::string all;
  for (const auto& server : servers_) all += (all.empty() ? "" : ",") + server.process.address();
  return all;
}

ZooKeeperProcess* ZooKeeperEnsemble::Find(const std::string& name) {
  for (auto& server : servers_) {
    if (server.name == name) return &server.process;
  }
  return nullptr;
}

ZooKeeperState ZooKeeperEnsemble::StateOf(const std::string& name) const {
  for (const auto& server : servers_) {
    if (server.name == name) return ParseZooKeeperState(AskZooKeeper(server.process.port(), "srvr", kAsked));
  }
  return {};
}

}  // namespace ratchet::chaos
