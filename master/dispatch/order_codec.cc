#include "master/dispatch/order_codec.h"

#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/snapshot.pb.h"

namespace ratchet::master {
namespace {

constexpr const char* kSplitLogClass = "org.apache.hadoop.hbase.regionserver.SplitWALCallable";
constexpr const char* kFlushClass = "org.apache.hadoop.hbase.regionserver.FlushRegionCallable";
constexpr const char* kRefreshPeerClass = "org.apache.hadoop.hbase.replication.regionserver.RefreshPeerCallable";
constexpr const char* kTakeRightsClass = "ratchet.TakeRights";
constexpr const char* kBuildClass = "ratchet.BuildRegions";
constexpr const char* kCopyClass = "ratchet.CopyRegion";
constexpr const char* kCompactClass = "ratchet.CompactRegion";

void Encode(const OpenOrder& order, hbase::pb::OpenRegionRequest& request) {
  auto* info = request.add_open_info();
  ToProto(order.region, *info->mutable_region());
  info->set_open_proc_id(static_cast<std::int64_t>(order.id.pid.value()));
  info->set_open_number(order.open_number);
  info->set_attempt(order.id.attempt);
  info->set_table_dir(order.table_directory);
  if (order.schema != nullptr) ToProto(*order.schema, *info->mutable_schema());
  info->set_transition(order.transition);
  info->set_opened_before(order.opened_before);
  if (order.build_number != 0) info->set_build_number(order.build_number);
  if (order.schema_number != 0) info->set_schema_number(order.schema_number);
  if (order.issued != 0) info->set_issued(order.issued);
  if (order.served != 0) info->set_served(order.served);
  if (order.flushed != 0) info->set_flushed(order.flushed);
}

void Encode(const CloseOrder& order, const OrderSender& sender, std::uint64_t start_code,
            hbase::pb::CloseRegionRequest& request) {
  SpecifyRegion(order.region, *request.mutable_region());
  request.set_close_proc_id(static_cast<std::int64_t>(order.id.pid.value()));
  request.set_transition_in_zk(false);
  request.set_serverstartcode(start_code);
  if (order.destination.has_value()) ToProto(*order.destination, *request.mutable_destination_server());
  request.set_initiating_master_active_time(sender.active_since_ms);
  request.set_epoch(sender.epoch.value());
  request.set_attempt(order.id.attempt);
}

// Sets the common fields of orders that are neither open nor close orders.
void Address(const OrderId& id, const char* order_class, std::string parameter, const OrderSender& sender,
             hbase::pb::RemoteProcedureRequest& request) {
  request.set_proc_id(id.pid.value());
  request.set_proc_class(order_class);
  request.set_proc_data(std::move(parameter));
  request.set_initiating_master_active_time(sender.active_since_ms);
  request.set_epoch(sender.epoch.value());
  request.set_attempt(id.attempt);
}

void Encode(const SplitLogOrder& order, const OrderSender& sender, hbase::pb::RemoteProcedureRequest& request) {
  hbase::pb::SplitWALParameter parameter;
  parameter.set_wal_path(order.path);
  parameter.set_sealed_length(order.log.length);
  parameter.set_sealed_crc32c(order.log.crc32c);
  parameter.set_sealed_last_sequence(order.log.last_sequence);
  parameter.set_attempt(order.id.attempt);
  parameter.set_meta_log(order.log.meta);
  for (const SplitRegionHint& hint : order.regions) {
    auto* region = parameter.add_region();
    region->set_encoded_name(hint.encoded_region);
    region->set_region_dir(hint.region_directory);
    region->set_flushed_sequence(hint.flushed_sequence);
  }
  Address(order.id, kSplitLogClass, parameter.SerializeAsString(), sender, request);
}

void Encode(const FlushOrder& order, const OrderSender& sender, hbase::pb::RemoteProcedureRequest& request) {
  hbase::pb::FlushRegionParameter parameter;
  ToProto(order.flushed, *parameter.mutable_region());
  for (const std::string& family : order.families) parameter.add_column_family(family);
  Address(order.id, kFlushClass, parameter.SerializeAsString(), sender, request);
}

void Encode(const CompactOrder& order, const OrderSender& sender, hbase::pb::RemoteProcedureRequest& request) {
  hbase::pb::CompactRegionParameter parameter;
  ToProto(order.compacted, *parameter.mutable_region());
  parameter.set_major(order.major);
  Address(order.id, kCompactClass, parameter.SerializeAsString(), sender, request);
}

void Encode(const BuildOrder& order, const OrderSender& sender, hbase::pb::RemoteProcedureRequest& request) {
  hbase::pb::BuildRegionsParameter parameter;
  for (const RegionInfo& parent : order.parents) ToProto(parent, *parameter.add_parent());
  for (const RegionInfo& child : order.children) ToProto(child, *parameter.add_child());
  parameter.set_table_dir(order.table_directory);
  if (order.schema != nullptr) ToProto(*order.schema, *parameter.mutable_schema());
  Address(order.id, kBuildClass, parameter.SerializeAsString(), sender, request);
}

hbase::pb::CopyRegionParameter::Source KindOf(CopyOrder::Source kind) {
  switch (kind) {
    case CopyOrder::Source::kOpenRegion: return hbase::pb::CopyRegionParameter::OPEN_REGION;
    case CopyOrder::Source::kClosedRegion: return hbase::pb::CopyRegionParameter::CLOSED_REGION;
    case CopyOrder::Source::kPart: break;
  }
  return hbase::pb::CopyRegionParameter::PART;
}

void Encode(const CopyOrder& order, const OrderSender& sender, hbase::pb::RemoteProcedureRequest& request) {
  hbase::pb::CopyRegionParameter parameter;
  parameter.set_kind(KindOf(order.kind));
  ToProto(order.source, *parameter.mutable_source());
  ToProto(order.target, *parameter.mutable_target());
  parameter.set_snapshot(order.snapshot);
  parameter.set_table_dir(order.table_directory);
  parameter.set_flush(order.flush);
  parameter.set_opened_before(order.opened_before);
  if (order.build_number != 0) parameter.set_build_number(order.build_number);
  if (order.part != 0) parameter.set_part(order.part);
  if (order.schema != nullptr) ToProto(*order.schema, *parameter.mutable_schema());
  Address(order.id, kCopyClass, parameter.SerializeAsString(), sender, request);
}

}  // namespace

hbase::pb::ExecuteProceduresRequest EncodeOrders(const ServerName& server, const OrderBatch& batch,
                                                 const OrderSender& sender, ProcId lowest_live_pid,
                                                 std::int64_t wall_millis) {
  hbase::pb::ExecuteProceduresRequest request;
  request.set_epoch(sender.epoch.value());
  request.set_lowest_live_pid(lowest_live_pid.value());
  hbase::pb::OpenRegionRequest* opens = nullptr;
  const auto encode_open = [&](const OpenOrder& open) {
    if (opens == nullptr) {
      opens = request.add_open_region();
      opens->set_serverstartcode(server.start_code);
      opens->set_initiating_master_active_time(sender.active_since_ms);
      opens->set_master_system_time(static_cast<std::uint64_t>(wall_millis));
      opens->set_epoch(sender.epoch.value());
    }
    Encode(open, *opens);
  };
  for (const OrderPtr& order : batch) {
    if (const auto* open = std::get_if<OpenOrder>(order.get())) {
      encode_open(*open);
    } else if (const auto* several = std::get_if<OpenBatchOrder>(order.get())) {
      for (const OpenOrder& each : several->opens) encode_open(each);
    } else if (const auto* close = std::get_if<CloseOrder>(order.get())) {
      Encode(*close, sender, server.start_code, *request.add_close_region());
    } else if (const auto* flush = std::get_if<FlushOrder>(order.get())) {
      Encode(*flush, sender, *request.add_proc());
    } else if (const auto* compact = std::get_if<CompactOrder>(order.get())) {
      Encode(*compact, sender, *request.add_proc());
    } else if (const auto* build = std::get_if<BuildOrder>(order.get())) {
      Encode(*build, sender, *request.add_proc());
    } else if (const auto* copy = std::get_if<CopyOrder>(order.get())) {
      Encode(*copy, sender, *request.add_proc());
    } else if (const auto* refresh = std::get_if<RefreshPeersOrder>(order.get())) {
      Address(refresh->id, kRefreshPeerClass, refresh->list, sender, *request.add_proc());
    } else if (const auto* rights = std::get_if<TakeRightsOrder>(order.get())) {
      Address(rights->id, kTakeRightsClass, *rights->image, sender, *request.add_proc());
    } else {
      Encode(std::get<SplitLogOrder>(*order), sender, *request.add_proc());
    }
  }
  return request;
}

std::string DescribeOrder(const Order& order) {
  const OrderId& id = IdOf(order);
  if (const auto* open = std::get_if<OpenOrder>(&order)) {
    return fmt::format("pid={} open {} opening {}", id.pid, open->region.encoded_name(), open->open_number);
  }
  if (const auto* several = std::get_if<OpenBatchOrder>(&order)) {
    return fmt::format("pid={} open {} regions, first {}", id.pid, several->opens.size(),
                       several->opens.empty() ? "none" : several->opens.front().region.encoded_name());
  }
  if (const auto* close = std::get_if<CloseOrder>(&order)) {
    return fmt::format("pid={} close {}", id.pid, close->region.encoded_name());
  }
  if (const auto* flush = std::get_if<FlushOrder>(&order)) {
    return fmt::format("pid={} flush {}", id.pid, flush->flushed.encoded_name());
  }
  if (const auto* compact = std::get_if<CompactOrder>(&order)) {
    return fmt::format("pid={} compact {}", id.pid, compact->compacted.encoded_name());
  }
  if (const auto* build = std::get_if<BuildOrder>(&order)) {
    return fmt::format("pid={} build {} of {}", id.pid, build->children.front().encoded_name(),
                       build->parents.front().encoded_name());
  }
  if (const auto* copy = std::get_if<CopyOrder>(&order)) {
    return fmt::format("pid={} copy {} by snapshot {}", id.pid, copy->source.encoded_name(), copy->snapshot);
  }
  if (std::holds_alternative<RefreshPeersOrder>(order)) return fmt::format("pid={} take replication peers", id.pid);
  if (std::holds_alternative<TakeRightsOrder>(order)) return fmt::format("pid={} take rights", id.pid);
  const auto& split = std::get<SplitLogOrder>(order);
  return fmt::format("pid={} split {} up to {}", id.pid, split.path, split.log.length);
}

}  // namespace ratchet::master
