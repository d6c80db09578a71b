#include "procedure/ops/operator_requests.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/rpc/exceptions.h"

namespace ratchet::host {
namespace {

using procedure::PauseScope;

// The operator is the user of the connection. The name that the request claims is kept after it, never in its place.
procedure::OperatorNote NoteOf(const rpc::CallContext& call, const pb::OperatorNote& note) {
  std::string who = call.user;
  if (!note.who().empty() && note.who() != call.user)
    who += fmt::format("{}says to be {}", who.empty() ? "" : ", ", note.who());
  return {std::move(who), note.why()};
}

// Answers with an empty response when a verb is durable.
template <class Response>
std::function<void(Status)> AnswerWith(Done<Response> done) {
  return [done = std::move(done)](const Status& status) {
    if (status.ok())
      done(Response{});
    else
      done(Refusal(status.error()));
  };
}

pb::ListEventsResponse ResponseOf(Epoch epoch, const procedure::ActivityBatch& batch) {
  pb::ListEventsResponse response;
  response.set_epoch(epoch.value());
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

// Answers before the client's time-out, with no events if necessary.
Millis EventPatience(const rpc::CallContext& call, const pb::ListEventsRequest& request) {
  constexpr Millis kLongest{60'000};
  const Millis patience = std::min(Millis(request.wait_ms()), kLongest);
  return call.timeout > Millis{0} ? std::min(patience, call.timeout * 3 / 4) : patience;
}

}  // namespace

Error Refusal(const Error& error) {
  if (error.code() == Code::kUnavailable || error.code() == Code::kFenced) return error;
  if (error.code() == Code::kInvalidArgument)
    return rpc::RemoteError(rpc::exception::kIllegalArgumentIo, error.message());
  if (error.code() == Code::kNotFound) return rpc::RemoteError(rpc::exception::kUnknownProcedure, error.message());
  return rpc::RemoteError(rpc::exception::kDoNotRetryIo, error.message());
}

Result<PauseScope> ScopeOf(const pb::PauseScope& scope) {
  switch (scope.kind()) {
    case pb::PauseScope::EVERYTHING: return PauseScope::Everything();
    case pb::PauseScope::ORDINARY: return PauseScope::Ordinary();
    case pb::PauseScope::TYPE: return PauseScope::Type(scope.type());
    case pb::PauseScope::PROCEDURE: return PauseScope::Procedure(ProcId(scope.pid()));
    case pb::PauseScope::RESOURCE: break;
  }
  RATCHET_ASSIGN(auto key, procedure::ParseResource(scope.resource()));
  return PauseScope::Resource(std::move(key));
}

void Pause(procedure::Executor& executor, const rpc::CallContext& call, PauseScope scope,
           const pb::PauseRequest& request, Done<pb::PauseResponse> done) {
  executor.Pause(std::move(scope), NoteOf(call, request.note()), Millis(request.patience_ms()),
                 [done = std::move(done)](const Result<procedure::PauseReport>& report) {
                   if (!report.ok()) return done(Refusal(report.error()));
                   pb::PauseResponse response;
                   for (const ProcId pid : report->running) response.add_running(pid.value());
                   for (const ProcId pid : report->outside) response.add_waiting_outside(pid.value());
                   done(std::move(response));
                 });
}

void Resume(procedure::Executor& executor, const rpc::CallContext& call, const pb::ResumeRequest& request,
            Done<pb::ResumeResponse> done) {
  auto scope = ScopeOf(request.scope());
  if (!scope.ok()) return done(Refusal(scope.error()));
  executor.Resume(*std::move(scope), NoteOf(call, request.note()), AnswerWith(std::move(done)));
}

void ActOnProcedure(procedure::Executor& executor, const rpc::CallContext& call,
                    const pb::ProcedureVerbRequest& request, Done<pb::ProcedureVerbResponse> done) {
  const ProcId pid(request.pid());
  procedure::OperatorNote note = NoteOf(call, request.note());
  auto noted = AnswerWith(std::move(done));
  switch (request.verb()) {
    case pb::ProcedureVerbRequest::BYPASS:
      return executor.Bypass(pid, request.recursive(), std::move(note), std::move(noted));
    case pb::ProcedureVerbRequest::PARK: return executor.Park(pid, std::move(note), std::move(noted));
    case pb::ProcedureVerbRequest::UNPARK: return executor.Unpark(pid, std::move(note), std::move(noted));
    case pb::ProcedureVerbRequest::ABORT: return executor.Abort(pid, std::move(note), std::move(noted));
    case pb::ProcedureVerbRequest::RERUN: break;
  }
  const auto step = executor.FindStep(pid, request.step());
  if (!step.ok()) return noted(step.error());
  executor.Rerun(pid, *step, std::move(note), std::move(noted));
}

pb::ListPausesResponse ListPauses(const procedure::Executor& executor) {
  pb::ListPausesResponse response;
  for (const procedure::PauseInfo& pause : executor.Pauses()) {
    auto& row = *response.add_pause();
    row.set_what(pause.scope.ToString());
    row.set_who(pause.who);
    row.set_why(pause.why);
    row.set_at_wall_ms(pause.at_ms);
  }
  for (const procedure::PauseLogEntry& change : executor.PauseLog()) {
    auto& row = *response.add_change();
    if (change.resume) row.set_resume(true);
    row.set_what(change.what);
    row.set_who(change.who);
    row.set_why(change.why);
    row.set_at_wall_ms(change.at_ms);
  }
  return response;
}

void ListEvents(procedure::Executor& executor, const rpc::CallContext& call, const pb::ListEventsRequest& request,
                Epoch epoch, std::function<void(pb::ListEventsResponse)> done) {
  const bool same = request.has_epoch() && request.epoch() == epoch.value();
  // A reader that comes from another master is answered at once, also when nothing has happened here yet.
  const Millis patience = same || !request.has_epoch() ? EventPatience(call, request) : Millis{0};
  executor.WatchActivity(
      same ? request.after() : 0, request.limit(), patience,
      [epoch, done = std::move(done)](const procedure::ActivityBatch& batch) { done(ResponseOf(epoch, batch)); });
}

pb::GetMetricsResponse GetMetrics(const procedure::Executor& executor, const procedure::ProcedureStore& store) {
  pb::GetMetricsResponse response;
  for (const procedure::TypeMetrics& type : executor.Metrics()) {
    auto& row = *response.add_type();
    row.set_type(type.type);
    row.set_submitted(type.submitted);
    row.set_succeeded(type.succeeded);
    row.set_failed(type.failed);
    row.set_hook_errors(type.hook_errors);
    for (const std::uint64_t count : type.duration_ms_log2) row.add_duration_log2_ms(count);
  }
  const procedure::StoreMetrics counts = store.metrics();
  response.set_store_batches(counts.batches);
  response.set_store_records(counts.records);
  response.set_store_syncs(counts.syncs);
  response.set_store_bytes(counts.bytes_written);
  response.set_store_segments(counts.segments);
  response.set_store_live_records(counts.live_records);
  response.set_store_in_flight(counts.in_flight);
  return response;
}

}  // namespace ratchet::host
