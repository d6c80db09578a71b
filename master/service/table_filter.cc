#include "master/service/table_filter.h"

#include <fmt/core.h>

#include "common/rpc/exceptions.h"

namespace ratchet::master {
namespace {

// std::regex matches by recursion: long patterns and names could exhaust the stack.
constexpr std::size_t kMaxRegex = 1000;
constexpr std::size_t kMaxMatched = 4000;

}  // namespace

Result<TableFilter> TableFilter::Make(const std::optional<std::string>& regex, std::string ns, bool include_system) {
  TableFilter filter;
  filter.ns_ = std::move(ns);
  filter.include_system_ = include_system;
  if (!regex.has_value()) return filter;
  filter.nothing_ = regex->empty();
  if (regex->size() > kMaxRegex) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("a pattern longer than {} bytes", kMaxRegex));
  }
  try {
    filter.regex_.emplace(*regex, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("cannot read the pattern '{}': {}", *regex, error.what()));
  }
  return filter;
}

bool TableFilter::Matches(const TableName& table) const {
  if (nothing_ || (!include_system_ && table.IsSystem())) return false;
  if (!ns_.empty() && table.ns != ns_) return false;
  if (!regex_.has_value()) return true;
  const std::string text = table.ToString();
  if (text.size() > kMaxMatched) return false;
  if (std::regex_match(text, *regex_)) return true;
  return table.ns == kDefaultNamespace && std::regex_match(table.ns + ":" + table.qualifier, *regex_);
}

}  // namespace ratchet::master
