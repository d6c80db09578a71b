// The order to copy a region into a snapshot, or out of one.
#include <algorithm>

#include <fmt/format.h>

#include "common/model/proto/snapshot.pb.h"
#include "common/rpc/exceptions.h"
#include "tests/support/master_world/sim_cluster.h"
#include "tests/support/master_world/sim_server.h"

namespace ratchet::sim {
namespace {

// Returns the acknowledged value of a region, from its copy in a snapshot.
std::string TruthOf(const std::string& snapshot, const std::string& encoded) { return snapshot + "/" + encoded; }

// The reason why no copy can be made of a region that is not open; empty: it can be copied.
std::string NotReady(const RegionData& data, const master::CopyOrder& order) {
  const bool unopened =
      data.open_number == 0 ? !order.opened_before : data.open_number == data.built && order.build_number != 0;
  if (!data.closed && !unopened) return "its newest manifest does not end with CLOSED";
  return data.recovered > data.flushed ? "it has recovered edits" : "";
}

bool HasDirectory(const Storage& storage, const std::string& encoded) {
  return std::any_of(storage.tables.begin(), storage.tables.end(),
                     [&](const auto& table) { return table.second.regions.contains(encoded); });
}

}  // namespace

regionserver::OrderAnswer SimServer::Perform(const master::CopyOrder& order) {
  using Source = master::CopyOrder::Source;
  Storage& storage = cluster_.storage();
  Answer answer;
  answer.outcome = regionserver::OrderOutcome::kFailed;
  if (fenced()) {
    Exit("found its fence while copying a region");
    return answer;
  }
  if (refuse_splits > 0) {
    --refuse_splits;
    answer.error_message = "told to refuse";
    return answer;
  }
  const std::string source = order.source.encoded_name();
  const std::uint64_t number = order.id.pid.value();
  const auto snapshot = storage.snapshots.find(order.snapshot);
  if (snapshot == storage.snapshots.end() || !snapshot->second.regions.contains(source)) {
    answer.error_message = "the snapshot has no directory for the region";
    return answer;
  }
  hbase::pb::CopyRegionResult result;
  RegionData& data = storage.regions[source];
  std::uint64_t value = data.flushed;
  if (order.kind == Source::kOpenRegion) {
    const auto open = regions_.find(source);
    if (open == regions_.end()) {
      answer.error_class = std::string(rpc::exception::kNotServingRegion);
      return answer;
    }
    if (data.open_number != open->second.open_number) {
      Exit("found a younger opening while copying");
      return answer;
    }
    if (order.flush) value = data.flushed = std::max(data.flushed, open->second.value);
  } else if (order.kind == Source::kClosedRegion && !HasDirectory(storage, source)) {
    answer.error_message = "the region's directory is not there";
    return answer;
  } else if (order.kind == Source::kClosedRegion) {
    result.set_not_ready(NotReady(data, order));
    if (data.open_number != 0 && data.open_number == data.built) value = data.flushed;
    const bool never_open = data.open_number == data.built;
    if (result.not_ready().empty() && !never_open && value != storage.acknowledged[source]) {
      cluster_.Violation(
          fmt::format("the copy of {} has {}, acknowledged is {}", source, value, storage.acknowledged[source]));
    }
  } else {
    const auto copy = snapshot->second.copies.find({source, order.part});
    if (copy == snapshot->second.copies.end()) {
      answer.error_message = "there is no such part";
      return answer;
    }
    const std::string target = order.target.encoded_name();
    RegionData& made = storage.regions[target];
    value = copy->second;
    if (made.built < number) {
      made.built = number;
      made.flushed = value;
      made.open_number = std::max(made.open_number, number);
      const std::string truth = TruthOf(order.snapshot, source);
      storage.acknowledged[truth] = value;
      storage.parents[target] = {truth};
    }
  }
  if (order.kind != Source::kPart && result.not_ready().empty()) snapshot->second.copies[{source, number}] = value;
  cluster_.Trace(fmt::format("{} copied {} by order {}{}", name_.ToString(), source, number,
                             result.not_ready().empty() ? "" : ": not ready"));
  result.set_sequence(value);
  answer.outcome = regionserver::OrderOutcome::kDone;
  answer.payload = result.SerializeAsString();
  return answer;
}

}  // namespace ratchet::sim
