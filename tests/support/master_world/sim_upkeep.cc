// A simulated region server: flushes and compactions by order.
#include <algorithm>

#include <fmt/format.h>

#include "common/model/proto/admin.pb.h"
#include "common/rpc/exceptions.h"
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
  RegionData* const data = DataOf(order.compacted, answer);
  if (data == nullptr) return answer;
  if (data->damaged) {
    ++data->refused_compactions;
    answer.outcome = OrderOutcome::kFailed;
    answer.error_message = "block checksum mismatch";
    return answer;
  }
  ++data->compactions;
  return answer;
}

// S118 (older copy stays closed). As long as nothing on the storage has gone back, no order contradicts the storage.
std::optional<std::string> SimServer::JudgePast(const master::OpenOrder& order, const RegionData& data) const {
  std::optional<std::string> error;
  if (order.issued != 0 && data.open_number > order.issued) error = std::string(rpc::exception::kStoreWentBack);
  if (data.served < order.served || data.flushed < order.flushed) error = std::string(rpc::exception::kOlderCopy);
  if (error && !cluster_.storage().went_back) {
    cluster_.Violation(fmt::format("{} finds {} of {}: number {}, served {}, flushed {}; the order {} says {}, {}, {}",
                                   name_.ToString(), *error, order.region.encoded_name(), data.open_number, data.served,
                                   data.flushed, order.open_number, order.issued, order.served, order.flushed));
  }
  return error;
}

}  // namespace ratchet::sim
