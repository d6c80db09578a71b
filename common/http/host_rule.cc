#include "common/http/host_rule.h"

#include <algorithm>

#include "common/base/host_port.h"

namespace ratchet::http {
namespace {

// Without a dot at the end, which a fully qualified name may have.
std::string Normal(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

// The name or address in "name", "name:80", "[::1]" or "[::1]:80".
std::string_view WithoutPort(std::string_view field) {
  if (field.starts_with('[')) {
    const auto end = field.find(']');
    return end == std::string_view::npos ? field : field.substr(1, end - 1);
  }
  return field.substr(0, field.find(':'));
}

}  // namespace

HostRule::HostRule(const std::vector<std::string>& names) : names_{"localhost"} {
  for (const std::string& name : names) {
    if (name == "*") every_ = true;
    if (!name.empty()) names_.insert(Normal(name));
  }
}

bool HostRule::Allows(std::string_view field) const {
  if (every_ || field.empty()) return true;
  const std::string name = Normal(WithoutPort(field));
  return IsNumericHost(name) || names_.contains(name);
}

}  // namespace ratchet::http
