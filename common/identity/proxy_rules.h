// ProxyRules: which users may act for which others, and from where. Pure.
//
// A rule is a line "PROXY USERS [HOSTS]". PROXY is the authenticated user. USERS is a list, separated by commas, of
// users, of groups ("@ops"), or "*". HOSTS is a list of addresses and networks ("10.1.0.0/16"); without it every
// address is allowed. Names of hosts are not allowed, because a name service must not decide who acts for whom.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::identity {

// The groups of a user, without '@'.
using GroupsOf = std::function<std::vector<std::string>(const std::string& user)>;

class ProxyRules {
 public:
  ProxyRules() = default;  // no user may act for another
  // An error names the line. `groups_known`: false refuses "@group".
  [[nodiscard]] static Result<ProxyRules> Parse(std::string_view text, bool groups_known);
  // `address`: numeric. `groups_of` may be empty if no rule has a group.
  [[nodiscard]] bool Allows(const std::string& proxy, const std::string& user, std::string_view address,
                            const GroupsOf& groups_of) const;

 private:
  // An IPv4 address is a mapped IPv6 one.
  struct Network {
    std::array<std::uint8_t, 16> address{};
    unsigned bits = 128;
  };
  struct Rule {
    std::string proxy;
    std::vector<std::string> users;
    std::vector<Network> hosts;  // empty: everywhere
  };
  [[nodiscard]] static bool ParseAddress(std::string_view text, std::array<std::uint8_t, 16>& address);
  [[nodiscard]] static bool ParseNetwork(std::string_view text, Network& network);
  [[nodiscard]] static bool AllowsUser(const Rule& rule, const std::string& user, const GroupsOf& groups_of);
  [[nodiscard]] static bool AllowsHost(const Rule& rule, std::string_view address);

  std::vector<Rule> rules_;
};

}  // namespace ratchet::identity
