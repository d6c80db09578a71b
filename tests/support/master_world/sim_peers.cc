// A simulated server learns the replication peers and the rights of users.
#include <memory>
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

SimServer::Answer SimServer::Perform(const master::TakeRightsOrder& order) {
  Answer answer;
  answer.outcome = OrderOutcome::kDone;
  LearnRights(*order.image);
  return answer;
}

void SimServer::LearnRights(const std::string& image) {
  ratchet::pb::RightsImage proto;
  auto read = proto.ParseFromString(image)
                  ? ratchet::rights::RightsImage::FromProto(proto)
                  : Result<ratchet::rights::RightsImage>(Error(Code::kCorruption, "no message"));
  if (!read.ok()) return cluster_.Violation("an unreadable image of rights: " + read.error().ToString());
  static_cast<void>(rights.Take(std::make_shared<const ratchet::rights::RightsImage>(*std::move(read))));
}

}  // namespace ratchet::sim
