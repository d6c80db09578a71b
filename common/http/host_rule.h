// HostRule: the names for which the page answers. A page of another site can make its name point to this machine and
// then read answers as its own (DNS rebinding), but its requests name that site in the field Host. Pure, immutable.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::http {

class HostRule {
 public:
  // `names`: without ports, in any case; "*" allows every name. Addresses and localhost are always allowed, because no
  // other site has them.
  explicit HostRule(const std::vector<std::string>& names = {});
  // `field`: the value of a Host field, from any client. An empty value is allowed: browsers always send a name.
  [[nodiscard]] bool Allows(std::string_view field) const;

 private:
  std::set<std::string> names_;
  bool every_ = false;
};

}  // namespace ratchet::http
