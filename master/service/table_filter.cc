#include "master/service/table_filter.h"

#include "master/service/pattern.h"

namespace ratchet::master {
namespace {

// std::regex matches by recursion: long names could exhaust the stack.
constexpr std::size_t kMaxMatched = 4000;

}  // namespace

Result<TableFilter> TableFilter::Make(const std::optional<std::string>& regex, std::string ns, bool include_system) {
  TableFilter filter;
  filter.ns_ = std::move(ns);
  filter.include_system_ = include_system;
  if (!regex.has_value()) return filter;
  filter.nothing_ = regex->empty();
  RATCHET_ASSIGN(filter.regex_, CompilePattern(*regex));
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
