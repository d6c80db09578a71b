// RatchetService.Why: answered by a master in any role. Where the answer is made from the cluster's state, it passes
// the epoch CHECK like every other (S33); a standby's or a starting master's is about itself.
#include <fmt/core.h>

#include "common/rpc/methods/ratchet_service.h"
#include "master/service/reply.h"
#include "master/service/why_facts.h"
#include "master/service/why_method.h"
#include "master/why/answer.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

constexpr std::size_t kMostChains = 100;
constexpr std::size_t kMostInStatus = 500;  // procedures: the status is asked often and stays cheap

const char* RoleText(WhyRole role) {
  switch (role) {
    case WhyRole::kStandby: return "standby";
    case WhyRole::kActivating: return "starting";
    case WhyRole::kActive: return "active";
    case WhyRole::kStopping: return "stopping";
  }
  return "";
}

// A subject that is not known is an answer too: errors lose their kind on the way.
rpb::WhyResponse Unknown(const std::string& subject, const Error& error) {
  rpb::WhyResponse answer;
  answer.set_subject(subject);
  answer.set_verdict("not known");
  answer.set_unknown(error.message());
  answer.set_ambiguous(error.code() == Code::kInvalidArgument);
  return answer;
}

rpb::WhyResponse Answered(const ServiceEnv& env, const rpb::WhyRequest& request) {
  const WhyFacts facts = TakeWhyFacts(env, !request.subject().empty());
  auto made = AnswerWhy(facts, request.subject(), std::min<std::size_t>(request.limit(), kMostChains));
  rpb::WhyResponse answer = made.ok() ? *std::move(made) : Unknown(request.subject(), made.error());
  answer.set_answered_by(fmt::format("{} master {}", RoleText(facts.role), facts.self));
  if (const auto active = env.gate.active_master(); active && facts.role == WhyRole::kStandby)
    answer.set_active_master(fmt::format("{}:{}", active->host, active->port));
  return answer;
}

}  // namespace

std::string WhyLine(const ServiceEnv& env) {
  if (const auto parts = env.gate.Admit(Need::kRecovered); parts.ok()) {
    const std::size_t unfinished = parts->executor->Count().unfinished;
    if (unfinished > kMostInStatus) return fmt::format("{} procedures are unfinished (ratchet why)", unfinished);
  }
  const auto answer = AnswerWhy(TakeWhyFacts(env, false), {}, 1);
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
