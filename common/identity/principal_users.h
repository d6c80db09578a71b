// PrincipalUsers: makes the name of a user from a principal of Kerberos. Pure.
//
// The first rule that matches the whole principal decides. Without one, NAME@REALM of this cluster's realm is the user
// NAME. Any other principal has no user: NAME/HOST@REALM belongs to a machine or a role, and another realm has names of
// its own, S159 (only its own realm has short names).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/identity/user_rules.h"

namespace ratchet::identity {

// The realm of NAME@REALM or NAME/HOST@REALM.
[[nodiscard]] std::string_view RealmOf(std::string_view principal);

class PrincipalUsers {
 public:
  PrincipalUsers() = default;  // without rules
  // The lines are those of UserRules. An error names the line.
  [[nodiscard]] static Result<PrincipalUsers> Parse(std::string_view text);
  // `realm`: the cluster's. The user, or the reason why the principal has none.
  [[nodiscard]] Result<std::string> UserOf(std::string_view principal, std::string_view realm) const;

 private:
  std::optional<UserRules> rules_;
};

}  // namespace ratchet::identity
