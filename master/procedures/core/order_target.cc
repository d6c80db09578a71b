#include "master/procedures/core/order_target.h"

#include "master/procedures/core/data.pb.h"

namespace ratchet::master {
namespace {

template <class Data>
std::optional<std::string> Unanswered(const Data& data, const std::string& server) {
  if (data.has_answer() || server.empty()) return std::nullopt;
  return server;
}

}  // namespace

std::optional<std::string> OrderTarget(const procedure::ProcedureInfo& info) {
  if (info.type == "OpenRegion" || info.type == "CloseRegion") {
    pb::RegionOrderData data;
    if (data.ParseFromString(info.data) && !data.settled()) return Unanswered(data, data.server());
  }
  if (info.type == "SplitWalRemote") {
    pb::SplitWalRemoteData data;
    if (data.ParseFromString(info.data) && !data.settled()) return Unanswered(data, data.worker());
  }
  if (info.type == "FlushRegion") {
    pb::FlushRegionData data;
    if (data.ParseFromString(info.data)) return Unanswered(data, data.server());
  }
  if (info.type == "BuildRegions") {
    pb::BuildRegionsData data;
    if (data.ParseFromString(info.data)) return Unanswered(data, data.server());
  }
  return std::nullopt;
}

}  // namespace ratchet::master
