#include "regionserver/rpc/data_service.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/region_info.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint32_t kMetaPriority = 200;  // HBase's priority of requests on system tables

// Requests on meta wait in queues of their own, because clients and masters depend on meta (S78: members' own queues).
rpc::QueueClass MetaQueueOf(const rpc::CallContext& call) {
  const bool own = call.member && !RATCHET_MUTANT("regionserver.one_meta_queue");
  return own ? rpc::QueueClass::kMemberMeta : rpc::QueueClass::kMeta;
}

rpc::QueueClass QueueOf(const rpc::CallContext& call, const pb::RegionSpecifier& region) {
  const auto name = EncodedNameOf(region);
  return name.ok() && *name == kMetaEncodedName ? MetaQueueOf(call) : rpc::QueueClass::kData;
}

}  // namespace

std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts) {
  auto calls = std::make_shared<const DataCalls>(std::move(parts));
  auto service = std::make_shared<rpc::Service>(methods::kClientService);
  using Context = rpc::CallContext;
  service->On(methods::kGet, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Get(request, responder);
  });
  service->On(methods::kMutate, [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
    calls->Mutate(request, cells, responder);
  });
  service->On(methods::kMulti, [calls](const Context&, const auto& request, std::string_view cells, auto responder) {
    calls->Multi(request, cells, responder);
  });
  service->On(methods::kExecService, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Exec(request, responder);
  });
  service->On(methods::kScan, [calls](const Context&, const auto& request, std::string_view, auto responder) {
    calls->Scan(request, responder);
  });
  service->ClassifyBy(methods::kGet,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->AtOnce(methods::kGet, [calls](const Context&, const auto& request, const auto& responder) {
    return calls->GetAtOnce(request, responder);
  });
  service->ClassifyBy(methods::kMutate,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->ClassifyBy(methods::kExecService,
                      [](const Context& call, const auto& request) { return QueueOf(call, request.region()); });
  service->ClassifyBy(methods::kScan, [](const Context& call, const auto& request) {
    if (request.has_region()) return QueueOf(call, request.region());
    // The next call of a scan names only the scanner. Members scan only hbase:meta; clients mark meta by the priority.
    if (call.member || call.priority >= kMetaPriority) return MetaQueueOf(call);
    return rpc::QueueClass::kData;
  });
  service->ClassifyBy(methods::kMulti, [](const Context& call, const auto& request) {
    return request.regionaction().empty() ? rpc::QueueClass::kData : QueueOf(call, request.regionaction(0).region());
  });
  return service;
}

namespace {

std::string_view TableOfMetaRow(std::string_view row) { return row.substr(0, row.find(',')); }

Result<std::optional<Epoch>> EpochOf(const PbAttributes& attributes) {
  RATCHET_ASSIGN(const auto number, NumberAttribute(attributes, meta::kEpochAttribute));
  if (!number.has_value()) return std::optional<Epoch>();
  return std::optional<Epoch>(Epoch(static_cast<std::uint64_t>(*number)));
}

bool HasResult(MutationKind kind) { return kind == MutationKind::kAppend || kind == MutationKind::kIncrement; }

// Makes a unit of one mutation from a Mutate request.
Result<AtomicMutation> MakeUnit(const pb::MutateRequest& request, std::uint64_t nonce_group, std::string_view cells,
                                std::int64_t now_ms) {
  CellBlockReader block(cells);
  AtomicMutation unit;
  RATCHET_ASSIGN(auto mutation, MakeMutation(request.mutation(), nonce_group, now_ms, block));
  if (request.has_condition()) {
    RATCHET_ASSIGN(unit.condition, MakeCondition(request.condition()));
    if (unit.condition->row != mutation.row) {
      return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "condition and mutation are of different rows");
    }
  }
  unit.mutations.push_back(std::move(mutation));
  return unit;
}

}  // namespace

CellTarget TargetOf(const rpc::CallContext& call, std::string& block) {
  return {call.has_codec ? &block : nullptr, call.codec_has_tags};
}

std::uint64_t BytesOf(const std::vector<Cell>& cells) {
  std::uint64_t bytes = 0;
  for (const Cell& cell : cells) bytes += EncodedCellSize(cell);
  return bytes;
}

void FillMutationResult(const Mutation& mutation, const std::vector<Cell>& cells, CellTarget target, pb::Result& out) {
  FillResult(HasResult(mutation.kind) && mutation.return_result ? cells : std::vector<Cell>(), target, out);
}

Result<std::shared_ptr<Region>> DataCalls::FindRegion(const pb::RegionSpecifier& specifier) const {
  RATCHET_TRY(parts_.admit());
  RATCHET_ASSIGN(const std::string encoded_name, EncodedNameOf(specifier));
  return parts_.find(encoded_name);
}

Result<Throttles::Use> DataCalls::Throttle(const rpc::CallContext& call, const Region& region,
                                           const ThrottleWork& work) const {
  if (parts_.throttles == nullptr) return Throttles::Use();
  return parts_.throttles->Admit(call, region.info().table, work);
}

Status DataCalls::CheckRead(Region& region) const {
  RATCHET_TRY(HitFault("regionserver.before_read_reply", region.encoded_name()));
  return RATCHET_MUTANT("regionserver.skip_read_check") ? Ok() : region.CheckServing();
}

// Proves the epoch before it raises the highest epoch: a forged epoch would depose every master permanently.
Status DataCalls::Prove(Epoch claimed) const {
  if (!parts_.prove_epoch || claimed <= parts_.epochs.highest()) return Ok();
  return parts_.prove_epoch(claimed);
}

Status DataCalls::EnterMetaRead(const Region& region, const PbAttributes& attributes) const {
  if (!region.info().IsMeta()) return Ok();
  RATCHET_ASSIGN(const auto epoch, EpochOf(attributes));
  if (!epoch.has_value()) return Ok();
  RATCHET_TRY(Prove(*epoch));
  // the ticket is released at once: only the wait and the raise matter
  RATCHET_TRY(parts_.epochs.EnterMetaWork(*epoch));
  return Ok();
}

// S112 (no replication loops): a cluster that ships to itself, or to a cluster that ships back here, would write the
// same cells without end.
Status DataCalls::RefuseReturned(const AtomicMutation& unit) const {
  const std::string& own = parts_.cluster_id;
  if (own.empty() || RATCHET_MUTANT("replication.take_returned")) return Ok();
  for (const Mutation& mutation : unit.mutations) {
    const auto& passed = mutation.cluster_ids;
    if (std::find(passed.begin(), passed.end(), own) == passed.end()) continue;
    return rpc::RemoteError(
        rpc::exception::kDoNotRetryIo,
        fmt::format("this is cluster {}, and these mutations have passed it before: the sender's peer "
                    "leads back to a cluster that has them",
                    own));
  }
  return Ok();
}

Status DataCalls::GuardWrite(const rpc::CallContext& call, const Region& region, const PbAttributes& attributes,
                             AtomicMutation& mutation, std::shared_ptr<EpochGuard::Ticket>& ticket) const {
  RATCHET_TRY(rights_.CheckWrite(call, region, mutation));
  RATCHET_TRY(RefuseReturned(mutation));
  if (!region.info().IsMeta()) return Ok();
  if (!call.member) {
    return rpc::RemoteError(
        rpc::exception::kAccessDenied,
        "only masters of this cluster write to hbase:meta: the client has not proven that it has the "
        "key in cluster.key below --root");
  }
  RATCHET_ASSIGN(const auto epoch, EpochOf(attributes));
  if (!epoch.has_value()) {
    return rpc::RemoteError(
        rpc::exception::kDoNotRetryIo,
        fmt::format("a write to hbase:meta needs a master's epoch (attribute {})", meta::kEpochAttribute));
  }
  RATCHET_TRY(Prove(*epoch));
  RATCHET_ASSIGN(auto entered, parts_.epochs.EnterMetaWork(*epoch));
  ticket = std::make_shared<EpochGuard::Ticket>(std::move(entered));
  mutation.guard = [this, wanted = *epoch](const std::vector<Cell>&) -> Status { return parts_.epochs.Admit(wanted); };
  return Ok();
}

Result<std::vector<Cell>> DataCalls::ReadRow(Region& region, const pb::Get& get,
                                             const rpc::CallContext& context) const {
  const bool is_meta = region.info().IsMeta();
  RATCHET_TRY(EnterMetaRead(region, get.attribute()));
  RATCHET_ASSIGN(GetSpec spec, MakeGetSpec(get, is_meta));
  RATCHET_TRY(rights_.Narrow(context, region, spec));
  RATCHET_ASSIGN(auto cells, region.Get(spec));
  if (spec.closest_row_before && !cells.empty() && TableOfMetaRow(cells.front().row) != TableOfMetaRow(spec.row)) {
    cells.clear();  // the previous row belongs to another table
  }
  return cells;
}

Result<pb::GetResponse> DataCalls::DoGet(const pb::GetRequest& request, const rpc::CallContext& context,
                                         CellTarget target) const {
  RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
  RATCHET_ASSIGN(const Throttles::Use limited, Throttle(context, *region, {0, 1, 0, kBytesOfGet}));
  RATCHET_ASSIGN(const auto cells, ReadRow(*region, request.get(), context));
  if (limited.counts()) limited.HasRead(BytesOf(cells));
  RATCHET_TRY(CheckRead(*region));
  pb::GetResponse response;
  if (request.get().existence_only()) {
    response.mutable_result()->set_exists(!cells.empty());
  } else {
    FillResult(cells, target, *response.mutable_result());
  }
  return response;
}

void DataCalls::Get(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const {
  std::string block;
  const auto response = DoGet(request, responder.context(), TargetOf(responder.context(), block));
  if (response.ok()) {
    responder.Reply(*response, std::move(block));
  } else {
    responder.Fail(response.error());
  }
}

namespace {

// Writes cells into the answer as FillResult does, without copies.
class GetSink final : public CellSink {
 public:
  GetSink(CellTarget target, pb::Result& result) : target_(target), result_(result) {}
  void Add(const CellView& cell) override {
    ++cells_;
    if (target_.block != nullptr)
      AppendCell(cell, *target_.block, target_.tags);
    else
      ToProto(cell, *result_.add_cell());
  }
  // `exists`: the client asks only whether the row has cells.
  void End(bool exists) {
    if (exists) {
      result_.Clear();
      if (target_.block != nullptr) target_.block->clear();
      result_.set_exists(cells_ > 0);
    } else if (target_.block != nullptr) {
      result_.set_associated_cell_count(cells_);
    }
  }

 private:
  const CellTarget target_;
  pb::Result& result_;
  std::int32_t cells_ = 0;
};

}  // namespace

bool DataCalls::GetAtOnce(const pb::GetRequest& request, const rpc::Responder<pb::GetResponse>& responder) const {
  const pb::Get& get = request.get();
  // A filter may compute for long, and an armed fault point may wait.
  if (get.has_filter() || get.closest_row_before() || FaultPoints::Instance().armed()) return false;
  if (parts_.throttles != nullptr && parts_.throttles->limits_anything()) return false;
  const auto region = FindRegion(request.region());
  if (!region.ok() || (*region)->info().IsMeta()) return false;
  if ((*region)->CheckMayWait() && !RATCHET_MUTANT("regionserver.prove_on_io_thread")) return false;
  auto spec = MakeGetSpec(get, false);
  if (!spec.ok()) return false;
  // Refusals and partial rights are left to the handler, which logs and counts them.
  if (!rights_.ReadsWhole(responder.context(), **region)) return false;
  spec->cached_only = !RATCHET_MUTANT("regionserver.read_disk_on_io_thread");
  pb::GetResponse response;
  std::string block;
  GetSink sink(TargetOf(responder.context(), block), *response.mutable_result());
  if (!(*region)->Get(*spec, sink).ok() || !CheckRead(**region).ok()) return false;
  sink.End(get.existence_only());
  responder.Reply(response, std::move(block));
  return true;
}

void DataCalls::Mutate(const pb::MutateRequest& request, std::string_view cells,
                       const rpc::Responder<pb::MutateResponse>& responder) const {
  auto region = FindRegion(request.region());
  if (!region.ok()) {
    responder.Fail(region.error());
    return;
  }
  const std::uint64_t nonce_group = rights_.NonceGroup(responder.context(), request.nonce_group());
  auto unit = MakeUnit(request, nonce_group, cells, parts_.clock.WallMillis());
  std::shared_ptr<EpochGuard::Ticket> ticket;
  Status admitted = unit.ok() ? GuardWrite(responder.context(), **region, request.mutation().attribute(), *unit, ticket)
                              : Status(unit.error());
  if (admitted.ok()) {
    const auto limited = ThrottleBy(responder.context(), **region, [&] {
      const std::uint64_t looks = request.has_condition() ? 1 : 0;
      return ThrottleWork{1, looks, BytesOf(unit->mutations.front().cells), looks * kBytesOfGet};
    });
    if (!limited.ok()) admitted = limited.error();
  }
  if (!admitted.ok()) {
    responder.Fail(admitted.error());
    return;
  }
  Mutation shape;  // the fields that FillMutationResult needs
  shape.kind = unit->mutations.front().kind;
  shape.return_result = unit->mutations.front().return_result;
  (*region)->Mutate(std::move(*unit), [responder, ticket, shape, region = *region](Result<MutationResult> result) {
    if (ticket != nullptr) ticket->Release();
    Status fault = HitFault("regionserver.before_write_reply", region->encoded_name());
    if (!fault.ok() || !result.ok()) {
      responder.Fail(fault.ok() ? result.error() : fault.error());
      return;
    }
    pb::MutateResponse response;
    std::string block;
    response.set_processed(result->processed);
    // Java treats an absent result as null; an increment or append without a requested result returns an empty one.
    if (result->processed && !result->results.empty() && HasResult(shape.kind)) {
      FillMutationResult(shape, result->results.front(), TargetOf(responder.context(), block),
                         *response.mutable_result());
    }
    responder.Reply(response, std::move(block));
  });
}

}  // namespace ratchet::regionserver
