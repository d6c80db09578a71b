#include "master/procedures/claims_of.h"

#include <algorithm>

#include "master/procedures/register.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

Claims ClaimsOf(const procedure::ProcedureInfo& info, ClaimKinds kind) {
  const auto types = ProcedureTypes();
  const auto found =
      std::find_if(types.begin(), types.end(), [&info](const ProcedureType& type) { return type.name == info.type; });
  return found != types.end() && Includes(found->claims, kind) ? found->uses(info.data) : Claims();
}

std::vector<std::string_view> TypesThatClaim(ClaimKinds kind) {
  std::vector<std::string_view> names;
  for (const ProcedureType& type : ProcedureTypes()) {
    if (Includes(type.claims, kind)) names.push_back(type.name);
  }
  return names;
}

void ForEachClaim(const procedure::Executor& executor, ClaimKinds kind,
                  const std::function<void(const Claims&)>& visit) {
  for (const ProcedureType& type : ProcedureTypes()) {
    if (!Includes(type.claims, kind)) continue;
    for (const ProcId pid : executor.FindUnfinished(type.name)) {
      if (const auto info = executor.Get(pid)) visit(type.uses(info->data));
    }
  }
}

std::optional<std::string> OrderTarget(const procedure::ProcedureInfo& info) {
  Claims claims = ClaimsOf(info, kClaimsAnswer);
  if (claims.awaited_server.empty()) return std::nullopt;
  return std::move(claims.awaited_server);
}

std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info) {
  if (!procedure::IsTerminal(info.state)) {
    if (auto setback = ClaimsOf(info, kClaimsSetback).setback) return setback;
  }
  if (!info.last_error.has_value()) return std::nullopt;
  return Setback{info.last_error->ToString(), info.attempt - 1};
}

std::optional<TreeSetback> WorstSetbackOf(const std::vector<procedure::ProcedureInfo>& tree) {
  std::optional<TreeSetback> worst;
  for (const procedure::ProcedureInfo& info : tree) {
    if (procedure::IsTerminal(info.state)) continue;
    const auto setback = SetbackOf(info);
    if (setback && (!worst || setback->times > worst->setback.times)) worst = TreeSetback{info.pid, *setback};
  }
  return worst;
}

}  // namespace ratchet::master
