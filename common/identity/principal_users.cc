#include "common/identity/principal_users.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/identity/rule_file.h"

namespace ratchet::identity {

std::string_view RealmOf(std::string_view principal) {
  const std::size_t at = principal.rfind('@');
  return at == std::string_view::npos ? std::string_view() : principal.substr(at + 1);
}

Result<PrincipalUsers> PrincipalUsers::Parse(std::string_view text) {
  RATCHET_ASSIGN(UserRules rules, UserRules::Parse(text));
  PrincipalUsers made;
  made.rules_ = std::move(rules);
  return made;
}

// A backslash precedes a special byte inside a name or a realm, so the parts would not be clear.
Result<std::string> PrincipalUsers::UserOf(std::string_view principal, std::string_view realm) const {
  const auto refuse = [principal](std::string_view why) {
    return Error(Code::kInvalidArgument, fmt::format("the principal '{}' {}", ShownName(principal), why));
  };
  if (principal.find('\\') != std::string_view::npos) return refuse("has special characters");
  if (std::count(principal.begin(), principal.end(), '@') != 1) return refuse("is not NAME@REALM");
  if (rules_.has_value() && rules_->Matches(principal)) return rules_->UserOf(principal);
  const std::string_view name = principal.substr(0, principal.find('@'));
  const bool own = !realm.empty() && RealmOf(principal) == realm;
  if (!own && !RATCHET_MUTANT("identity.any_realm"))
    return refuse(fmt::format("is of another realm than {}, and no rule of --principal-rules matches it", realm));
  if (name.find('/') != std::string_view::npos)
    return refuse("has more than one part, and no rule of --principal-rules matches it");
  return UserRules().UserOf(name);
}

}  // namespace ratchet::identity
