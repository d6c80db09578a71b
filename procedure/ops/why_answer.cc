#include "procedure/ops/why_answer.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "procedure/ops/why/answer.h"

namespace ratchet::host {
namespace {

constexpr std::size_t kMostChains = 100;

const char* RoleText(const WhyFacts& facts) {
  if (!facts.has_servers) return "host";
  switch (facts.role) {
    case WhyRole::kStandby: return "standby master";
    case WhyRole::kActivating: return "starting master";
    case WhyRole::kActive: return "active master";
    case WhyRole::kStopping: return "stopping master";
  }
  return "";
}

pb::WhyResponse Unknown(const std::string& subject, const Error& error) {
  pb::WhyResponse answer;
  answer.set_subject(subject);
  answer.set_verdict("not known");
  answer.set_unknown(error.message());
  answer.set_ambiguous(error.code() == Code::kInvalidArgument);
  return answer;
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

pb::WhyResponse AnswerRequest(const WhyFacts& facts, const pb::WhyRequest& request) {
  auto made = AnswerWhy(facts, request.subject(), std::min<std::size_t>(request.limit(), kMostChains));
  pb::WhyResponse answer = made.ok() ? *std::move(made) : Unknown(request.subject(), made.error());
  answer.set_answered_by(fmt::format("{} {}", RoleText(facts), facts.self));
  return answer;
}

}  // namespace ratchet::host
