#include "common/identity/proxy_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "common/identity/rule_file.h"
#include "common/rights/rights_entry.h"

namespace ratchet::identity {
namespace {

constexpr std::size_t kMappedBytes = 12;  // before an IPv4 address
constexpr unsigned kMappedBits = 96;
constexpr unsigned kAllBits = 128;

std::vector<std::string> SplitByCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

bool ProxyRules::ParseAddress(std::string_view text, std::array<std::uint8_t, 16>& address) {
  const std::string name(text);
  if (::inet_pton(AF_INET6, name.c_str(), address.data()) == 1) return true;
  address.fill(0);
  address[10] = address[11] = 0xff;
  return ::inet_pton(AF_INET, name.c_str(), address.data() + kMappedBytes) == 1;
}

bool ProxyRules::ParseNetwork(std::string_view text, Network& network) {
  const std::size_t slash = text.find('/');
  if (!ParseAddress(text.substr(0, slash), network.address)) return false;
  if (slash == std::string_view::npos) return true;
  const std::string_view digits = text.substr(slash + 1);
  unsigned bits = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return false;
  const bool four = text.find(':') == std::string_view::npos;
  if (bits > (four ? kAllBits - kMappedBits : kAllBits)) return false;
  network.bits = four ? bits + kMappedBits : bits;
  return true;
}

Result<ProxyRules> ProxyRules::Parse(std::string_view text, bool groups_known) {
  RATCHET_ASSIGN(const std::vector<RuleLine> lines, SplitRules(text));
  ProxyRules made;
  for (const RuleLine& line : lines) {
    const auto refuse = [&line](std::string_view why) {
      return Error(Code::kInvalidArgument, fmt::format("line {}: {}", line.number, why));
    };
    if (line.words.size() != 2 && line.words.size() != 3)
      return refuse("it must have a proxy, the users for which the proxy may act, and optionally addresses");
    Rule rule;
    rule.proxy = line.words[0];
    if (!rights::CheckGrantee(rule.proxy).ok() || rule.proxy.front() == rights::kGroupMark)
      return refuse("the proxy is not the name of a user");
    rule.users = SplitByCommas(line.words[1]);
    for (const std::string& user : rule.users) {
      if (user == "*") continue;
      if (const Status usable = rights::CheckGrantee(user); !usable.ok()) return refuse(usable.error().message());
      if (user.front() == rights::kGroupMark && !groups_known)
        return refuse(fmt::format("{}: this process knows no groups", user));
    }
    for (const std::string& host : line.words.size() == 3 ? SplitByCommas(line.words[2]) : std::vector<std::string>()) {
      Network network;
      if (!ParseNetwork(host, network)) return refuse(fmt::format("'{}' is not an address or a network", host));
      rule.hosts.push_back(network);
    }
    made.rules_.push_back(std::move(rule));
  }
  return made;
}

bool ProxyRules::AllowsUser(const Rule& rule, const std::string& user, const GroupsOf& groups_of) {
  std::vector<std::string> groups;
  if (groups_of) groups = groups_of(user);
  return std::any_of(rule.users.begin(), rule.users.end(), [&](const std::string& allowed) {
    if (allowed == "*" || allowed == user) return true;
    return allowed.front() == rights::kGroupMark &&
           std::find(groups.begin(), groups.end(), allowed.substr(1)) != groups.end();
  });
}

bool ProxyRules::AllowsHost(const Rule& rule, std::string_view address) {
  if (rule.hosts.empty()) return true;
  std::array<std::uint8_t, 16> own{};
  if (!ParseAddress(address, own)) return false;
  return std::any_of(rule.hosts.begin(), rule.hosts.end(), [&own](const Network& network) {
    for (unsigned bit = 0; bit < network.bits; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if (((own[bit / 8] ^ network.address[bit / 8]) & mask) != 0) return false;
    }
    return true;
  });
}

bool ProxyRules::Allows(const std::string& proxy, const std::string& user, std::string_view address,
                        const GroupsOf& groups_of) const {
  // A name that could not be given a right is not one to act for either.
  if (!rights::CheckGrantee(user).ok() || user.front() == rights::kGroupMark) return false;
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.proxy == proxy && AllowsUser(rule, user, groups_of) && AllowsHost(rule, address);
  });
}

}  // namespace ratchet::identity
