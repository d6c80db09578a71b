// RatchetService: an operator's commands, and the streams and counters for operators
// (common/model/proto/operator.proto).
#include "common/model/proto/operator.pb.h"
#include "common/model/table_name.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/pause_target.h"
#include "master/rpc/reply.h"
#include "procedure/api/executor.h"
#include "procedure/api/pause_scope.h"
#include "procedure/api/store.h"
#include "procedure/ops/operator_requests.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

template <class Response>
host::Done<Response> Checked(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Result<Response>& response) {
    if (response.ok())
      ReplyChecked(parts, responder, *response);
    else
      FailChecked(parts, responder, response.error());
  };
}

// hbase:meta has one key, whichever way it is named (lock_keys.h): its procedures lock `meta`.
template <class Request>
Request WithOneKeyOfMeta(Request request) {
  rpb::PauseScope& scope = *request.mutable_scope();
  const auto key = scope.kind() == rpb::PauseScope::RESOURCE ? procedure::ParseResource(scope.resource())
                                                             : Result<procedure::ResourceKey>(procedure::ResourceKey{});
  if (!key.ok()) return request;
  const std::string meta = MetaTableName().ToString();
  const bool of_table = key->kind == procedure::ResourceKind::kTable && key->name == meta;
  const bool of_region = key->kind == procedure::ResourceKind::kRegion && key->name.starts_with(meta + "/");
  if (of_table || of_region) scope.set_resource(procedure::ResourceKey::Meta().ToString());
  return request;
}

void Pause(const ActiveParts& parts, const rpc::CallContext& call, const rpb::PauseRequest& asked,
           const rpc::Responder<rpb::PauseResponse>& responder) {
  const rpb::PauseRequest request = WithOneKeyOfMeta(asked);
  auto scope = host::ScopeOf(request.scope());
  if (!scope.ok()) return FailChecked(parts, responder, host::Refusal(scope.error()));
  if (const Status there = CheckPauseTarget(parts, *scope); !there.ok())
    return FailChecked(parts, responder, there.error());
  host::Pause(*parts.executor, call, *std::move(scope), request, Checked(parts, responder));
}

void Resume(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ResumeRequest& request,
            const rpc::Responder<rpb::ResumeResponse>& responder) {
  host::Resume(*parts.executor, call, WithOneKeyOfMeta(request), Checked(parts, responder));
}

void Verb(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ProcedureVerbRequest& request,
          const rpc::Responder<rpb::ProcedureVerbResponse>& responder) {
  host::ActOnProcedure(*parts.executor, call, request, Checked(parts, responder));
}

Result<rpb::ListPausesResponse> ListPauses(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                           const rpb::ListPausesRequest& /*request*/) {
  return host::ListPauses(*parts.executor);
}

void ListEvents(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ListEventsRequest& request,
                const rpc::Responder<rpb::ListEventsResponse>& responder) {
  host::ListEvents(
      *parts.executor, call, request, parts.epoch,
      [parts, responder](const rpb::ListEventsResponse& response) { ReplyChecked(parts, responder, response); });
}

Result<rpb::GetMetricsResponse> GetMetrics(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                           const rpb::GetMetricsRequest& /*request*/) {
  return host::GetMetrics(*parts.executor, *parts.store);
}

}  // namespace

// Commands work as soon as procedures are loaded, also while hbase:meta is offline, because that is when they are
// needed.
void AddOperatorMethods(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  AnswerLater(service, gate, Need::kWorkers, methods::kPause, Pause);
  AnswerLater(service, gate, Need::kWorkers, methods::kResume, Resume);
  AnswerLater(service, gate, Need::kWorkers, methods::kProcedureVerb, Verb);
  Answer(service, gate, Need::kRecovered, methods::kListPauses, ListPauses);
  AnswerLater(service, gate, Need::kRecovered, methods::kListEvents, ListEvents);
  Answer(service, gate, Need::kRecovered, methods::kGetMetrics, GetMetrics);
}

}  // namespace ratchet::master
