// UserRules: makes the name of a user from a name in a certificate, or a principal of Kerberos. Pure.
//
// A rule is a line "PATTERN REPLACEMENT": a regular expression of RE2 that must match the whole name, and the user, in
// which \1 to \9 are the groups of the pattern. The first rule that matches decides. A name that no rule matches has no
// user. Without rules the name itself is the user.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::identity {

inline constexpr std::size_t kMostPatternBytes = 4u << 10;
inline constexpr std::size_t kMostNameBytes = 4u << 10;  // of a name in a certificate, or a principal

class UserRules {
 public:
  UserRules() = default;  // every name is a user
  // An error names the line.
  [[nodiscard]] static Result<UserRules> Parse(std::string_view text);
  // A rule matches the whole name, which may be refused all the same.
  [[nodiscard]] bool Matches(std::string_view name) const;
  // The user, or the reason why the name has none. A user is never empty, begins with '@', or has ',' or a control
  // character: each of these has a meaning where rights are stored.
  [[nodiscard]] Result<std::string> UserOf(std::string_view name) const;

 private:
  struct Rule;
  // Absent: no file of rules. Empty: no name matches.
  std::shared_ptr<const std::vector<Rule>> rules_;
};

}  // namespace ratchet::identity
