// RatchetService: an operator's verbs, and the streams and counters that the operator watches
// (common/model/proto/operator.proto).
#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/service/master_services.h"
#include "master/service/pause_target.h"
#include "master/service/reply.h"
#include "procedure/executor.h"
#include "procedure/host/service/operator_requests.h"
#include "procedure/store/procedure_store.h"

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

void Pause(const ActiveParts& parts, const rpc::CallContext& call, const rpb::PauseRequest& request,
           const rpc::Responder<rpb::PauseResponse>& responder) {
  auto scope = host::ScopeOf(request.scope());
  if (!scope.ok()) return FailChecked(parts, responder, host::Refusal(scope.error()));
  if (const Status there = CheckPauseTarget(parts, *scope); !there.ok())
    return FailChecked(parts, responder, there.error());
  host::Pause(*parts.executor, call, *std::move(scope), request, Checked(parts, responder));
}

void Resume(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ResumeRequest& request,
            const rpc::Responder<rpb::ResumeResponse>& responder) {
  host::Resume(*parts.executor, call, request, Checked(parts, responder));
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

// Verbs work as soon as procedures are loaded, also while hbase:meta is not there: that is when they are needed.
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
