// A simulated server learns the replication peers.
#include <utility>

#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::sim {

using regionserver::OrderOutcome;

SimServer::Answer SimServer::Perform(const master::RefreshPeersOrder& order) {
  Answer answer;
  answer.outcome = OrderOutcome::kDone;
  hbase::pb::PeerList list;
  if (!list.ParseFromString(order.list)) {
    cluster_.Violation("an unreadable list of peers");
    return answer;
  }
  Learn(list);
  return answer;
}

void SimServer::Learn(const hbase::pb::PeerList& list) {
  if (std::pair(list.epoch(), list.number()) > std::pair(peers.epoch(), peers.number())) peers = list;
}

}  // namespace ratchet::sim
