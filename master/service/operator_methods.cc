// RatchetService: an operator's verbs, and the streams and counters that the operator watches
// (common/model/proto/operator.proto).
#include <algorithm>

#include <fmt/core.h>

#include "common/model/proto/operator.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/procedure_exceptions.h"
#include "master/service/master_services.h"
#include "master/service/pause_target.h"
#include "master/service/reply.h"
#include "procedure/executor.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;
using procedure::PauseScope;

procedure::OperatorNote NoteOf(const rpc::CallContext& call, const rpb::OperatorNote& note) {
  return {note.who().empty() ? call.user : note.who(), note.why()};
}

// A verb that does not fit is the client's to correct: it is not tried again.
Error Refusal(const Error& error) {
  if (error.code() == Code::kUnavailable || error.code() == Code::kFenced) return error;
  if (error.code() == Code::kInvalidArgument)
    return rpc::RemoteError(rpc::exception::kIllegalArgumentIo, error.message());
  if (error.code() == Code::kNotFound) return rpc::RemoteError(rpc::exception::kUnknownProcedure, error.message());
  return rpc::RemoteError(rpc::exception::kDoNotRetryIo, error.message());
}

Result<PauseScope> ScopeOf(const rpb::PauseScope& scope) {
  switch (scope.kind()) {
    case rpb::PauseScope::EVERYTHING: return PauseScope::Everything();
    case rpb::PauseScope::ORDINARY: return PauseScope::Ordinary();
    case rpb::PauseScope::TYPE: return PauseScope::Type(scope.type());
    case rpb::PauseScope::PROCEDURE: return PauseScope::Procedure(ProcId(scope.pid()));
    case rpb::PauseScope::RESOURCE: break;
  }
  RATCHET_ASSIGN(auto key, procedure::ParseResource(scope.resource()));
  return PauseScope::Resource(std::move(key));
}

void Pause(const ActiveParts& parts, const rpc::CallContext& call, const rpb::PauseRequest& request,
           const rpc::Responder<rpb::PauseResponse>& responder) {
  auto scope = ScopeOf(request.scope());
  if (!scope.ok()) return FailChecked(parts, responder, Refusal(scope.error()));
  if (const Status there = CheckPauseTarget(parts, *scope); !there.ok())
    return FailChecked(parts, responder, there.error());
  parts.executor->Pause(*std::move(scope), NoteOf(call, request.note()), Millis(request.patience_ms()),
                        [parts, responder](const Result<procedure::PauseReport>& report) {
                          if (!report.ok()) return FailChecked(parts, responder, Refusal(report.error()));
                          rpb::PauseResponse response;
                          for (const ProcId pid : report->running) response.add_running(pid.value());
                          for (const ProcId pid : report->outside) response.add_waiting_outside(pid.value());
                          ReplyChecked(parts, responder, response);
                        });
}

// Answers an empty response when a verb is on record.
template <class Response>
std::function<void(Status)> AnswerWith(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Status& status) {
    if (!status.ok()) return FailChecked(parts, responder, Refusal(status.error()));
    ReplyChecked(parts, responder, Response{});
  };
}

void Resume(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ResumeRequest& request,
            const rpc::Responder<rpb::ResumeResponse>& responder) {
  auto scope = ScopeOf(request.scope());
  if (!scope.ok()) return FailChecked(parts, responder, Refusal(scope.error()));
  parts.executor->Resume(*std::move(scope), NoteOf(call, request.note()), AnswerWith(parts, responder));
}

void Verb(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ProcedureVerbRequest& request,
          const rpc::Responder<rpb::ProcedureVerbResponse>& responder) {
  const ProcId pid(request.pid());
  procedure::OperatorNote note = NoteOf(call, request.note());
  auto done = AnswerWith(parts, responder);
  switch (request.verb()) {
    case rpb::ProcedureVerbRequest::BYPASS:
      return parts.executor->Bypass(pid, request.recursive(), std::move(note), std::move(done));
    case rpb::ProcedureVerbRequest::PARK: return parts.executor->Park(pid, std::move(note), std::move(done));
    case rpb::ProcedureVerbRequest::UNPARK: return parts.executor->Unpark(pid, std::move(note), std::move(done));
    case rpb::ProcedureVerbRequest::ABORT: return parts.executor->Abort(pid, std::move(note), std::move(done));
    case rpb::ProcedureVerbRequest::RERUN: break;
  }
  const auto step = parts.executor->FindStep(pid, request.step());
  if (!step.ok()) return done(step.error());
  parts.executor->Rerun(pid, *step, std::move(note), std::move(done));
}

Result<rpb::ListPausesResponse> ListPauses(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                           const rpb::ListPausesRequest& /*request*/) {
  rpb::ListPausesResponse response;
  for (const procedure::PauseInfo& pause : parts.executor->Pauses()) {
    auto& row = *response.add_pause();
    row.set_what(pause.scope.ToString());
    row.set_who(pause.who);
    row.set_why(pause.why);
    row.set_at_wall_ms(pause.at_ms);
  }
  for (const procedure::PauseLogEntry& change : parts.executor->PauseLog()) {
    auto& row = *response.add_change();
    if (change.resume) row.set_resume(true);
    row.set_what(change.what);
    row.set_who(change.who);
    row.set_why(change.why);
    row.set_at_wall_ms(change.at_ms);
  }
  return response;
}

rpb::ListEventsResponse ResponseOf(const ActiveParts& parts, const procedure::ActivityBatch& batch) {
  rpb::ListEventsResponse response;
  response.set_epoch(parts.epoch.value());
  response.set_last(batch.last);
  response.set_lost(batch.lost);
  for (const procedure::Activity& event : batch.events) {
    auto& row = *response.add_event();
    row.set_sequence(event.sequence);
    row.set_kind(std::string(procedure::ActivityName(event.kind)));
    row.set_at_wall_ms(event.at_ms);
    if (event.pid.valid()) row.set_pid(event.pid.value());
    if (event.root.valid()) row.set_root(event.root.value());
    row.set_type(event.type);
    row.set_step(event.step);
    row.set_detail(event.detail);
  }
  return response;
}

// Answered before its client gives it up, with nothing if need be.
Millis EventPatience(const rpc::CallContext& call, const rpb::ListEventsRequest& request) {
  constexpr Millis kLongest{60'000};
  const Millis patience = std::min(Millis(request.wait_ms()), kLongest);
  return call.timeout > Millis{0} ? std::min(patience, call.timeout * 3 / 4) : patience;
}

void ListEvents(const ActiveParts& parts, const rpc::CallContext& call, const rpb::ListEventsRequest& request,
                const rpc::Responder<rpb::ListEventsResponse>& responder) {
  const bool same = request.has_epoch() && request.epoch() == parts.epoch.value();
  // Of another master the reader hears at once, also when nothing has happened here yet.
  const Millis patience = same || !request.has_epoch() ? EventPatience(call, request) : Millis{0};
  parts.executor->WatchActivity(same ? request.after() : 0, request.limit(), patience,
                                [parts, responder](const procedure::ActivityBatch& batch) {
                                  ReplyChecked(parts, responder, ResponseOf(parts, batch));
                                });
}

Result<rpb::GetMetricsResponse> GetMetrics(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                           const rpb::GetMetricsRequest& /*request*/) {
  rpb::GetMetricsResponse response;
  for (const procedure::TypeMetrics& type : parts.executor->Metrics()) {
    auto& row = *response.add_type();
    row.set_type(type.type);
    row.set_submitted(type.submitted);
    row.set_succeeded(type.succeeded);
    row.set_failed(type.failed);
    row.set_hook_errors(type.hook_errors);
    for (const std::uint64_t count : type.duration_ms_log2) row.add_duration_log2_ms(count);
  }
  const procedure::StoreMetrics store = parts.store->metrics();
  response.set_store_batches(store.batches);
  response.set_store_records(store.records);
  response.set_store_syncs(store.syncs);
  response.set_store_bytes(store.bytes_written);
  response.set_store_segments(store.segments);
  response.set_store_live_records(store.live_records);
  response.set_store_in_flight(store.in_flight);
  return response;
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
