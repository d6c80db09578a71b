#include "master/rpc/table_filter.h"

namespace ratchet::master {

Result<TableFilter> TableFilter::Make(const std::optional<std::string>& regex, std::string ns, bool include_system) {
  TableFilter filter;
  filter.ns_ = std::move(ns);
  filter.include_system_ = include_system;
  if (!regex.has_value()) return filter;
  filter.nothing_ = regex->empty();
  RATCHET_ASSIGN(filter.regex_, Pattern::Compile(*regex));
  return filter;
}

bool TableFilter::Matches(const TableName& table) const {
  if (nothing_ || (!include_system_ && table.IsSystem())) return false;
  if (!ns_.empty() && table.ns != ns_) return false;
  if (!regex_.has_value()) return true;
  const std::string text = table.ToString();
  if (regex_->Matches(text)) return true;
  return table.ns == kDefaultNamespace && regex_->Matches(table.ns + ":" + table.qualifier);
}

}  // namespace ratchet::master
