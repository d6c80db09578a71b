// RatchetService.Why: answered by a master in any role. An answer from cluster state passes the epoch CHECK (S33: check
// before state replies); a standby or a starting master answers about itself.
#include <fmt/core.h>

#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/reply.h"
#include "master/rpc/why_facts.h"
#include "master/rpc/why_method.h"
#include "master/why/master_why.h"
#include "procedure/api/executor.h"
#include "procedure/ops/why/answer.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

constexpr std::size_t kMostInStatus = 500;  // procedures; bounded because the status is requested often

rpb::WhyResponse Answered(const ServiceEnv& env, const rpb::WhyRequest& request) {
  const MasterFacts facts = CollectWhyFacts(env, !request.subject().empty());
  rpb::WhyResponse answer = host::AnswerRequest(MasterWhy(facts), request);
  answer.set_answered_by(fmt::format("{} {}", WhyRoleText(facts.role), facts.self));
  if (const auto active = env.gate.active_master(); active && facts.role == WhyRole::kStandby)
    answer.set_active_master(active->Address());
  return answer;
}

}  // namespace

std::string WhyLine(const ServiceEnv& env) {
  if (const auto parts = env.gate.Admit(Need::kRecovered); parts.ok()) {
    const std::size_t unfinished = parts->executor->Count().unfinished;
    if (unfinished > kMostInStatus) return fmt::format("{} procedures are unfinished (ratchet why)", unfinished);
  }
  const MasterFacts facts = CollectWhyFacts(env, false);
  const auto answer = host::AnswerWhy(MasterWhy(facts), {}, 1);
  return answer.ok() ? answer->verdict() : std::string();
}

void AddWhyMethod(rpc::Service& service, ServiceEnv& env) {
  service.On(
      methods::kWhy,
      [&env](const rpc::CallContext& /*call*/, const rpb::WhyRequest& request, std::string_view /*cells*/,
             const rpc::Responder<rpb::WhyResponse>& responder) {
        const auto parts = env.gate.Admit(Need::kRecovered);
        const auto answer = Answered(env, request);
        if (!parts.ok()) {
          responder.Reply(answer);
          return;
        }
        ReplyChecked(*parts, responder, answer);
      },
      kAdmin);
}

}  // namespace ratchet::master
