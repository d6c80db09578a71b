#include "procedure/ops/host_service.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/descriptors.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "procedure/ops/held_up.h"
#include "procedure/ops/operator_requests.h"
#include "procedure/ops/procedure_requests.h"
#include "procedure/ops/why/answer.h"

namespace ratchet::host {
namespace {

constexpr rpc::MethodOptions kOfOperators{rpc::QueueClass::kAdmin};

Status CheckOwner(const HostEnv& env) {
  const Status owner = env.store.Check();
  if (owner.ok()) return Ok();
  return rpc::RemoteError(rpc::exception::kMasterStopped,
                          fmt::format("another process owns the procedure store: {}", owner.error().message()));
}

template <class Response>
Done<Response> Checked(const HostEnv& env, const rpc::Responder<Response>& responder) {
  return [&env, responder](const Result<Response>& response) {
    if (const Status owner = CheckOwner(env); !owner.ok())
      responder.Fail(owner.error());
    else if (!response.ok())
      responder.Fail(response.error());
    else
      responder.Reply(*response);
  };
}

// `run(context, request, done)` answers now or later.
template <class Request, class Response, class Run>
void AnswerLater(rpc::Service& service, HostEnv& env, const rpc::Method<Request, Response>& method, Run run) {
  service.On(
      method,
      [&env, run = std::move(run)](const rpc::CallContext& call, const Request& request, std::string_view /*cells*/,
                                   const rpc::Responder<Response>& responder) {
        run(call, request, Checked<Response>(env, responder));
      },
      kOfOperators);
}

// `evaluate(request)` answers at once.
template <class Request, class Response, class Evaluate>
void Answer(rpc::Service& service, HostEnv& env, const rpc::Method<Request, Response>& method, Evaluate evaluate) {
  AnswerLater(service, env, method,
              [evaluate = std::move(evaluate)](const rpc::CallContext& /*call*/, const Request& request,
                                               const Done<Response>& done) { done(evaluate(request)); });
}

pb::GetStatusResponse StatusOf(const HostEnv& env) {
  pb::GetStatusResponse out;
  out.set_role(pb::GetStatusResponse::ACTIVE);
  out.set_without_regions(true);
  ToProto(env.Self(), *out.mutable_master());
  ToProto(env.Self(), *out.mutable_active_master());
  out.set_cluster_id(env.name);
  out.set_version(env.version);
  out.set_epoch(env.executor.epoch().value());
  out.set_uptime_ms(
      static_cast<std::uint64_t>(std::chrono::duration_cast<Millis>(env.clock.Now() - env.began).count()));
  const procedure::ProcedureCounts procedures = env.executor.Count(kStuckAttempts);
  out.set_procedures_unfinished(static_cast<std::uint32_t>(procedures.unfinished));
  out.set_procedures_stuck(static_cast<std::uint32_t>(procedures.stuck));
  const procedure::StoreMetrics store = env.store.metrics();
  out.set_store_batches(store.batches);
  out.set_store_syncs(store.syncs);
  for (const auto& pause : env.executor.Pauses()) out.add_pause(pause.ToString());
  for (const std::string& problem : env.executor.LoadProblems()) out.add_problem(problem);
  for (const std::string& line : HeldUp(env.executor, env.store)) out.add_problem(line);
  const DescriptorUse use = DescriptorsInUse();
  auto& row = *out.add_descriptors();
  ToProto(env.Self(), *row.mutable_server());
  row.set_used(use.used);
  row.set_limit(use.limit);
  if (const auto few = DescriptorProblem(use)) out.add_problem(*few);
  if (env.info_port >= 0) out.set_info_port(static_cast<std::uint32_t>(env.info_port));
  const WhyFacts facts = CollectWhyFacts(env);
  if (const auto why = AnswerWhy(WhyHost(facts), {}, 1); why.ok()) out.set_why(why->verdict());
  return out;
}

// Refuses a target that does not exist: a pause of a mistyped type would hold nothing back and report success.
Result<procedure::PauseScope> PauseTarget(const HostEnv& env, const pb::PauseScope& asked) {
  RATCHET_ASSIGN(auto scope, ScopeOf(asked));
  if (scope.kind == procedure::PauseScope::Kind::kType && env.registry.Find(scope.type) == nullptr)
    return Error(Code::kInvalidArgument, fmt::format("there is no procedure type {}", scope.type));
  return scope;
}

}  // namespace

void CollectProcedureFacts(const procedure::Executor& executor, WhyFacts& facts) {
  for (procedure::ProcedureInfo& info : executor.List()) {
    if (procedure::IsTerminal(info.state) && !info.failing) continue;
    const ProcId pid = info.pid;
    facts.procedures.emplace(pid, std::move(info));
  }
  facts.cycles = executor.WaitFor().cycles;
  facts.workers = executor.Workers();
  for (const procedure::PauseInfo& pause : executor.Pauses()) {
    std::string what = pause.scope.ToString();
    if (pause.scope.kind == procedure::PauseScope::Kind::kOrdinary) what = "ordinary";
    if (pause.scope.kind == procedure::PauseScope::Kind::kProcedure) what = std::to_string(pause.scope.pid.value());
    facts.pauses.push_back({pause.ToString(), what, std::max<std::int64_t>(0, facts.now_ms - pause.at_ms)});
  }
}

WhyFacts CollectWhyFacts(const HostEnv& env) {
  WhyFacts facts;
  facts.self = env.Self().ToString();
  facts.now_ms = env.clock.WallMillis();
  CollectProcedureFacts(env.executor, facts);
  if (const Status room = env.store.Admit(); !room.ok()) facts.store_full = room.error().message();
  return facts;
}

std::shared_ptr<rpc::Service> MakeHostService(HostEnv& env) {
  auto made = std::make_shared<rpc::Service>(methods::kRatchetService);
  rpc::Service& service = *made;
  procedure::Executor& executor = env.executor;
  Answer(service, env, methods::kGetStatus, [&env](const auto&) { return StatusOf(env); });
  Answer(service, env, methods::kWhy, [&env](const auto& request) {
    const WhyFacts facts = CollectWhyFacts(env);
    pb::WhyResponse answer = AnswerRequest(WhyHost(facts), request);
    answer.set_answered_by("host " + facts.self);
    return answer;
  });
  Answer(service, env, methods::kListProcedures,
         [&executor](const auto& request) { return ListProcedures(executor, request); });
  Answer(service, env, methods::kGetProcedure,
         [&executor](const auto& request) { return GetProcedure(executor, request); });
  Answer(service, env, methods::kListLocks, [&executor](const auto&) { return ListLocks(executor); });
  Answer(service, env, methods::kListPauses, [&executor](const auto&) { return ListPauses(executor); });
  Answer(service, env, methods::kGetMetrics, [&env](const auto&) { return GetMetrics(env.executor, env.store); });
  // A host keeps no history except the results; traces cover what is in memory.
  Answer(service, env, methods::kListHistory, [](const auto&) { return pb::ListHistoryResponse(); });
  AnswerLater(service, env, methods::kListEvents, [&executor](const auto& call, const auto& request, auto done) {
    ListEvents(executor, call, request, executor.epoch(), std::move(done));
  });
  AnswerLater(service, env, methods::kPause, [&env](const auto& call, const auto& request, auto done) {
    auto scope = PauseTarget(env, request.scope());
    if (!scope.ok()) return done(Refusal(scope.error()));
    Pause(env.executor, call, *std::move(scope), request, std::move(done));
  });
  AnswerLater(service, env, methods::kResume, [&executor](const auto& call, const auto& request, auto done) {
    Resume(executor, call, request, std::move(done));
  });
  AnswerLater(service, env, methods::kProcedureVerb, [&executor](const auto& call, const auto& request, auto done) {
    ActOnProcedure(executor, call, request, std::move(done));
  });
  return made;
}

std::shared_ptr<rpc::Service> MakeResultService(HostEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kMasterService);
  Answer(*service, env, methods::kGetProcedureResult,
         [&env](const auto& request) { return ResultOf(env.executor, request); });
  return service;
}

}  // namespace ratchet::host
