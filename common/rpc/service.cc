#include "common/rpc/service.h"

#include "common/base/mutant.h"
#include "common/rights/judge.h"

namespace ratchet::rpc {

using Kind = rights::Need::Kind;

rights::Demands Service::DemandsFor(rights::Need need, const std::vector<rights::Target>& targets) {
  rights::Demands demands;
  for (const rights::Target& target : targets) {
    const bool within = need.kind() == Kind::kSome;
    demands.push_back({target.scope, need.any_of(), within, target.owner});
  }
  if (demands.empty()) demands.push_back(rights::Demand::Of(rights::Scope::Global(), need.any_of()));
  return demands;
}

void Service::CheckComplete() const {
  for (const auto& [name, entry] : methods_) {
    const bool complete = !entry.need.has_target() || entry.demands != nullptr;
    RATCHET_CHECK(complete, "{}.{} needs a function that finds its target (Service::TargetOf)", name_, name);
  }
}

Status Service::Entry::Allows(const rights::Judge* judge, const CallContext& context,
                              const google::protobuf::MessageLite& request, bool again) const {
  if (judge == nullptr || context.member || !judge->judges() || RATCHET_MUTANT("rights.skip_check")) return Ok();
  const rights::Caller caller{context.user, context.member};
  const std::string_view what = again && !judge->enforces() ? std::string_view() : context.method;
  switch (need.kind()) {
    case Kind::kMember:  // ServerConnection has refused it
    case Kind::kAny:
    case Kind::kFilter:
    case Kind::kHandler: return Ok();
    case Kind::kGlobal: return judge->Check(caller, rights::Demand::Of(rights::Scope::Global(), need.any_of()), what);
    case Kind::kScoped:
    case Kind::kSome:
    case Kind::kOwner:
    case Kind::kRequest: break;
  }
  RATCHET_ASSIGN(const rights::Demands asked, demands(context, request));
  return judge->Check(caller, asked, what);
}

}  // namespace ratchet::rpc
