// A simulated region server: flushes and compactions by order.
#include <algorithm>

#include "common/model/proto/admin.pb.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::sim {

using regionserver::OrderOutcome;

RegionData* SimServer::DataOf(const RegionInfo& region, Answer& answer) {
  answer.outcome = OrderOutcome::kFailed;
  answer.error_message = "it is not open here, or the server is fenced";
  if (!regions_.contains(region.encoded_name()) || fenced()) return nullptr;
  answer.outcome = OrderOutcome::kDone;
  answer.error_message.clear();
  return &cluster_.storage().regions[region.encoded_name()];
}

SimServer::Answer SimServer::Perform(const master::FlushOrder& order) {
  Answer answer;
  RegionData* const data = DataOf(order.flushed, answer);
  if (data == nullptr) return answer;
  data->flushed = std::max(data->flushed, regions_.at(order.flushed.encoded_name()).value);
  hbase::pb::FlushRegionResult result;
  if (const std::string middle = order.flushed.start_key + "h"; order.flushed.Contains(middle))
    result.set_split_row(middle);
  answer.payload = result.SerializeAsString();
  return answer;
}

SimServer::Answer SimServer::Perform(const master::CompactOrder& order) {
  Answer answer;
  if (RegionData* const data = DataOf(order.compacted, answer); data != nullptr) ++data->compactions;
  return answer;
}

}  // namespace ratchet::sim
