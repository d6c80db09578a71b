#include "regionserver/orders/order_decoder.h"

#include <limits>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kMaxOpening = std::numeric_limits<std::int64_t>::max();  // openings are procedure ids
constexpr std::uint64_t kNoProcedure = static_cast<std::uint64_t>(-1);

Status CheckStartCode(bool has, std::uint64_t wanted, std::uint64_t own) {
  if (!has || wanted == own) return Ok();
  return rpc::RemoteError(rpc::exception::kOtherRun,
                          fmt::format("the order is for start code {}, this server's is {}", wanted, own));
}

Result<ProcId> PidOf(std::int64_t pid) {
  if (pid <= 0) return Error(Code::kInvalidArgument, "the order carries no procedure id");
  return ProcId(static_cast<std::uint64_t>(pid));
}

// Returns the order's own epoch, or else that of the request.
Epoch EpochOf(bool has, std::uint64_t epoch, Epoch of_request) { return has ? Epoch(epoch) : of_request; }

Lane LaneOf(const std::string& encoded_name) { return encoded_name == kMetaEncodedName ? Lane::kMeta : Lane::kRegions; }

Result<Order> MakeOpen(const pb::OpenRegionRequest::RegionOpenInfo& info, Epoch epoch, OrderExecutor& executor) {
  RATCHET_ASSIGN(const ProcId pid, PidOf(info.open_proc_id()));
  if (!info.has_open_number() || !info.has_table_dir() || !info.has_schema()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("pid={}: the order to open lacks open_number, table_dir or schema", pid));
  }
  // It becomes part of a file name, and no later opening may have a lower number (S21: numbered openings).
  if (info.open_number() == 0 || info.open_number() > kMaxOpening) {
    return Error(Code::kInvalidArgument,
                 fmt::format("pid={}: opening {} is not in 1..{}", pid, info.open_number(), kMaxOpening));
  }
  RATCHET_ASSIGN(const RegionInfo region, FromProto(info.region()));
  auto open = std::make_shared<OpenOrder>();
  open->pid = pid;
  open->encoded_name = region.encoded_name();
  open->region = info.region();
  open->open_number = info.open_number();
  open->opened_before = info.opened_before();
  open->build_number = info.build_number();
  open->schema_number = info.schema_number();
  open->issued = info.issued();
  open->served = info.served();
  open->flushed = info.flushed();
  open->table_dir = info.table_dir();
  open->schema = info.schema();
  Order order;
  order.key = OrderKey::ForRegion(open->encoded_name);
  order.pid = pid;
  order.address = {epoch, info.attempt()};
  order.lane = LaneOf(open->encoded_name);
  order.what = fmt::format("open of region {}, opening {}", open->encoded_name, open->open_number);
  order.execute = [open, &executor] {
    OrderAnswer answer = executor.Open(*open);
    answer.region_info = open->region.SerializeAsString();
    return answer;
  };
  if (order.lane == Lane::kMeta) return order;
  order.begin = [open, &executor](const std::function<void(OrderAnswer)>& done) {
    executor.OpenWithOthers(open, [open, done](OrderAnswer answer) {
      answer.region_info = open->region.SerializeAsString();
      done(std::move(answer));
    });
  };
  return order;
}

Result<Order> MakeClose(const pb::CloseRegionRequest& request, Epoch epoch, OrderExecutor& executor) {
  RATCHET_ASSIGN(const ProcId pid, PidOf(request.close_proc_id()));
  auto close = std::make_shared<CloseOrder>();
  close->pid = pid;
  const std::string& name = request.region().value();
  if (request.region().type() == pb::RegionSpecifier::REGION_NAME) {
    RATCHET_ASSIGN(const RegionInfo region, ParseRegionName(name));
    close->encoded_name = region.encoded_name();
    ToProto(region, close->region);
  } else {
    close->encoded_name = name;
  }
  if (request.has_destination_server()) {
    RATCHET_ASSIGN(close->destination, FromProto(request.destination_server()));
  }
  Order order;
  order.key = OrderKey::ForRegion(close->encoded_name);
  order.pid = pid;
  order.address = {epoch, request.attempt()};
  order.lane = LaneOf(close->encoded_name);
  order.what = fmt::format("close of region {}", close->encoded_name);
  order.execute = [close, &executor] {
    std::optional<OrderAnswer> answer = executor.Close(*close);
    if (answer.has_value() && close->region.IsInitialized()) answer->region_info = close->region.SerializeAsString();
    return answer;
  };
  return order;
}

// S47 (orders without ownership): remembered by its own pid, not as an order of the region.
Status DecodeFlush(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  pb::FlushRegionParameter parameter;
  if (!parameter.ParseFromString(request.proc_data())) {
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable FlushRegionParameter", order.pid));
  }
  RATCHET_ASSIGN(const RegionInfo region, FromProto(parameter.region()));
  const FlushOrder flush{order.pid, region.encoded_name()};
  if (RATCHET_MUTANT("orders.flush_is_the_regions")) order.key = OrderKey::ForRegion(flush.encoded_name);
  order.lane = region.IsMeta() ? Lane::kMetaFlush : Lane::kFlush;
  order.what = fmt::format("flush of region {}", flush.encoded_name);
  order.execute = [flush, &executor] { return executor.Flush(flush); };
  return Ok();
}

// An order to compact is remembered by its own pid, like an order to flush. It queues together with the compactions
// that the server begins itself.
Status DecodeCompact(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  pb::CompactRegionParameter parameter;
  if (!parameter.ParseFromString(request.proc_data())) {
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable CompactRegionParameter", order.pid));
  }
  RATCHET_ASSIGN(const RegionInfo region, FromProto(parameter.region()));
  const CompactOrder compact{order.pid, region.encoded_name(), parameter.major()};
  order.lane = compact.major ? Lane::kLargeCompact : Lane::kSmallCompact;
  order.what = fmt::format("compaction of region {}", compact.encoded_name);
  order.execute = [compact, &executor] { return executor.Compact(compact); };
  return Ok();
}

// Independent of the regions' own orders: a build neither supersedes nor waits for one (S47).
Status DecodeBuild(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  auto build = std::make_shared<BuildOrder>();
  build->pid = order.pid;
  if (!build->parameter.ParseFromString(request.proc_data())) {
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable BuildRegionsParameter", order.pid));
  }
  order.lane = RATCHET_MUTANT("orders.copies_beside_openings") ? Lane::kRegions : Lane::kBuild;
  order.what = fmt::format("build of {} regions of {}", build->parameter.child_size(), build->parameter.parent_size());
  order.execute = [build, &executor] { return executor.Build(*build); };
  return Ok();
}

// An order to copy is independent of other orders about the region. It may have to flush an open region first.
Status DecodeCopy(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  auto copy = std::make_shared<CopyOrder>();
  copy->pid = order.pid;
  if (!copy->parameter.ParseFromString(request.proc_data())) {
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable CopyRegionParameter", order.pid));
  }
  RATCHET_ASSIGN(const RegionInfo source, FromProto(copy->parameter.source()));
  order.lane = RATCHET_MUTANT("orders.copies_beside_openings") ? Lane::kRegions : Lane::kCopy;
  order.what = fmt::format("copy of region {}", source.encoded_name());
  order.execute = [copy, &executor] { return executor.Copy(*copy); };
  return Ok();
}

// An independent order. The list's own number decides whether the list is accepted.
Status DecodeRefreshPeers(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  auto refresh = std::make_shared<RefreshPeersOrder>();
  refresh->pid = order.pid;
  if (!refresh->list.ParseFromString(request.proc_data()))
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable list of peers", order.pid));
  order.lane = Lane::kRegions;
  order.what = fmt::format("list of {} replication peers", refresh->list.peer_size());
  order.execute = [refresh, &executor] { return executor.RefreshPeers(*refresh); };
  return Ok();
}

// An independent order. The image's own number decides whether it is taken.
Status DecodeTakeRights(const pb::RemoteProcedureRequest& request, OrderExecutor& executor, Order& order) {
  ratchet::pb::RightsImage proto;
  if (!proto.ParseFromString(request.proc_data()))
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable image of rights", order.pid));
  RATCHET_ASSIGN(rights::RightsImage image, rights::RightsImage::FromProto(proto));
  const TakeRightsOrder take{order.pid, std::make_shared<const rights::RightsImage>(std::move(image))};
  order.lane = Lane::kRegions;
  order.what = fmt::format("image of {} rights", proto.entries_size());
  order.execute = [take, &executor] { return executor.TakeRights(take); };
  return Ok();
}

Result<Order> MakeProcedure(const pb::RemoteProcedureRequest& request, Epoch epoch, OrderExecutor& executor) {
  if (request.proc_id() == 0 || request.proc_id() == kNoProcedure) {
    return Error(Code::kInvalidArgument, "the order carries no procedure id");
  }
  Order order;
  order.pid = ProcId(request.proc_id());
  order.key = OrderKey::ForProcedure(order.pid);
  order.address = {epoch, request.attempt()};
  order.lane = Lane::kSplitLog;
  if (request.proc_class() == kFlushRegionClass) {
    RATCHET_TRY(DecodeFlush(request, executor, order));
    return order;
  }
  if (request.proc_class() == kCompactRegionClass) {
    RATCHET_TRY(DecodeCompact(request, executor, order));
    return order;
  }
  if (request.proc_class() == kBuildRegionsClass) {
    RATCHET_TRY(DecodeBuild(request, executor, order));
    return order;
  }
  if (request.proc_class() == kCopyRegionClass) {
    RATCHET_TRY(DecodeCopy(request, executor, order));
    return order;
  }
  if (request.proc_class() == kRefreshPeerClass) {
    RATCHET_TRY(DecodeRefreshPeers(request, executor, order));
    return order;
  }
  if (request.proc_class() == kTakeRightsClass) {
    RATCHET_TRY(DecodeTakeRights(request, executor, order));
    return order;
  }
  if (request.proc_class() != kSplitLogClass) {
    order.what = request.proc_class();
    order.execute = [name = request.proc_class()] {
      return FailedAnswer(OrderOutcome::kFailed, Error(Code::kUnsupported, fmt::format("unknown procedure {}", name)));
    };
    return order;
  }
  auto split = std::make_shared<SplitLogOrder>();
  split->pid = order.pid;
  if (!split->parameter.ParseFromString(request.proc_data())) {
    return Error(Code::kInvalidArgument, fmt::format("pid={}: unreadable SplitWALParameter", order.pid));
  }
  split->attempt = split->parameter.has_attempt() ? split->parameter.attempt() : request.attempt();
  order.what = fmt::format("split of log {}", split->parameter.wal_path());
  order.execute = [split, &executor] { return executor.SplitLog(*split); };
  return order;
}

}  // namespace

OrderAnswer FailedAnswer(OrderOutcome outcome, const Error& error) {
  OrderAnswer answer;
  answer.outcome = outcome;
  answer.error_class = rpc::ClassOf(error);
  answer.error_message = error.ToString();
  return answer;
}

Result<OrderBatch> DecodeOrders(const pb::ExecuteProceduresRequest& request, std::uint64_t own_start_code,
                                OrderExecutor& executor) {
  OrderBatch batch;
  batch.epoch = Epoch(request.epoch());
  batch.lowest_live = ProcId(request.lowest_live_pid());
  for (const auto& open : request.open_region()) {
    RATCHET_TRY(CheckStartCode(open.has_serverstartcode(), open.serverstartcode(), own_start_code));
    const Epoch epoch = EpochOf(open.has_epoch(), open.epoch(), batch.epoch);
    for (const auto& info : open.open_info()) {
      RATCHET_ASSIGN(Order order, MakeOpen(info, epoch, executor));
      batch.orders.push_back(std::move(order));
    }
  }
  for (const auto& close : request.close_region()) {
    RATCHET_TRY(CheckStartCode(close.has_serverstartcode(), close.serverstartcode(), own_start_code));
    RATCHET_ASSIGN(Order order, MakeClose(close, EpochOf(close.has_epoch(), close.epoch(), batch.epoch), executor));
    batch.orders.push_back(std::move(order));
  }
  for (const auto& procedure : request.proc()) {
    const Epoch epoch = EpochOf(procedure.has_epoch(), procedure.epoch(), batch.epoch);
    RATCHET_ASSIGN(Order order, MakeProcedure(procedure, epoch, executor));
    batch.orders.push_back(std::move(order));
  }
  return batch;
}

}  // namespace ratchet::regionserver
