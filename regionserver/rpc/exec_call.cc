// ClientService.ExecService: a call of another service of a region, in addition to reads and writes. There are two:
// MultiRowMutationService, whose MutateRows changes several rows of the region as one (S41: atomic conditional commit),
// and AggregateService (aggregate_call.cc). AuthenticationService and AccessControlService are about users
// (user_services.cc).
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/model/cell_codec.h"
#include "common/model/message_limits.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/rpc/exceptions.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/exec_reply.h"

namespace ratchet::regionserver {
namespace {

// HBase's names of the answers' types; clients derive the type from the method.
constexpr std::string_view kRowsResponse =
    "org.apache.hadoop.hbase.protobuf.generated.MultiRowMutationProtos$MutateRowsResponse";
constexpr std::string_view kAggregateResponse =
    "org.apache.hadoop.hbase.protobuf.generated.AggregateProtos$AggregateResponse";

Error Refuse(std::string message) { return rpc::RemoteError(rpc::exception::kDoNotRetryIo, std::move(message)); }

std::string_view ServiceOf(const pb::CoprocessorServiceCall& call) {
  std::string_view service = call.service_name();
  constexpr std::string_view kPackage = "hbase.pb.";
  if (service.substr(0, kPackage.size()) == kPackage) service.remove_prefix(kPackage.size());
  return service;
}

Status CheckMethod(const pb::CoprocessorServiceCall& call, const Region& region) {
  if (ServiceOf(call) != "MultiRowMutationService") {
    return rpc::RemoteError(rpc::exception::kUnknownProtocol,
                            fmt::format("No registered coprocessor service found for {} in region {}",
                                        call.service_name(), region.info().name()));
  }
  if (call.method_name() == "MutateRows") return Ok();
  return rpc::RemoteError(rpc::exception::kUnknownProtocol,
                          fmt::format("Unknown method {} called on service {} in region {}", call.method_name(),
                                      call.service_name(), region.info().name()));
}

Result<AtomicMutation> MakeUnit(const pb::MutateRowsRequest& request, std::uint64_t nonce_group, std::int64_t now_ms) {
  AtomicMutation unit;
  unit.several_rows = true;
  CellBlockReader block{std::string_view()};  // such a request contains all cells itself
  for (const auto& proto : request.mutation_request()) {
    RATCHET_ASSIGN(Mutation mutation, MakeMutation(proto, nonce_group, now_ms, block));
    mutation.nonce.value = 0;  // the request has one nonce for all mutations
    unit.mutations.push_back(std::move(mutation));
  }
  unit.mutations.front().nonce.value = request.nonce();
  for (const auto& proto : request.condition()) {
    RATCHET_ASSIGN(Condition condition, MakeCondition(proto));
    unit.conditions.push_back(std::move(condition));
  }
  return unit;
}

void Answer(const pb::CoprocessorServiceRequest& request, bool processed,
            const rpc::Responder<pb::CoprocessorServiceResponse>& responder) {
  pb::MutateRowsResponse rows;
  rows.set_processed(processed);
  ReplyOfService(request.region(), kRowsResponse, rows.SerializeAsString(), responder);
}

}  // namespace

void DataCalls::Exec(const pb::CoprocessorServiceRequest& request,
                     const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const {
  const Status begun = CallService(request, responder);
  if (!begun.ok()) responder.Fail(begun.error());
}

// As HBase with hbase.security.exec.permission.checks.
Status DataCalls::CheckExec(const rpc::CallContext& call, const Region& region) const {
  if (!parts_.options.exec_checks || !rights_.Judges(call)) return Ok();
  return parts_.judge->Check({call.user, call.member},
                             rights::Demand::Of(rights::Scope::Table(region.info().table), rights::Action::kExec),
                             call.method);
}

Status DataCalls::CallService(const pb::CoprocessorServiceRequest& request,
                              const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const {
  RATCHET_ASSIGN(const std::shared_ptr<Region> region, FindRegion(request.region()));
  if (ServiceOf(request.call()) == "AuthenticationService") return Authenticate(*region, request, responder);
  if (ServiceOf(request.call()) == "AccessControlService") return ControlAccess(*region, request, responder);
  RATCHET_TRY(CheckExec(responder.context(), *region));
  if (ServiceOf(request.call()) == "AggregateService") {
    RATCHET_TRY(Throttle(responder.context(), *region, {0, 1, 0, kBytesOfScan}));
    RATCHET_ASSIGN(std::string bytes, AggregateRows(*region, request.call(), responder.context()));
    ReplyOfService(request.region(), kAggregateResponse, std::move(bytes), responder);
    return Ok();
  }
  RATCHET_TRY(CheckMethod(request.call(), *region));
  pb::MutateRowsRequest rows;
  if (!ParseMessage(request.call().request(), rows).ok()) return Refuse("the request of MutateRows cannot be read");
  if (rows.mutation_request().empty()) {
    if (!rows.condition().empty()) return Refuse("MutateRows: conditions without a mutation");
    RATCHET_TRY(CheckRead(*region));
    Answer(request, true, responder);  // HBase returns this answer
    return Ok();
  }
  RATCHET_ASSIGN(AtomicMutation unit, MakeUnit(rows, rights_.NonceGroup(responder.context(), rows.nonce_group()),
                                               parts_.clock.WallMillis()));
  RATCHET_TRY(ThrottleBy(responder.context(), *region, [&unit] {
    ThrottleWork work;
    work.writes = unit.mutations.size();
    for (const Mutation& mutation : unit.mutations) work.write_bytes += BytesOf(mutation.cells);
    return work;
  }));
  std::shared_ptr<EpochGuard::Ticket> ticket;
  RATCHET_TRY(GuardWrite(responder.context(), *region, rows.mutation_request(0).attribute(), unit, ticket));
  region->Mutate(std::move(unit), [responder, ticket, region, &request](Result<MutationResult> result) {
    if (ticket != nullptr) ticket->Release();
    const Status fault = HitFault("regionserver.before_write_reply", region->encoded_name());
    if (fault.ok() && result.ok()) return Answer(request, result->processed, responder);
    responder.Fail(fault.ok() ? result.error() : fault.error());
  });
  return Ok();
}

}  // namespace ratchet::regionserver
