#include "master/history/history_filter.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/model/table_name.h"

namespace ratchet::master {

std::string TableInText(std::string_view text) {
  constexpr std::string_view kKey = "table=";
  for (std::size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '[') continue;  // the match is the end of a longer word
    const std::string_view rest = text.substr(at + kKey.size());
    const auto name = TableName::Parse(rest.substr(0, std::min(rest.find_first_of(", ;]"), rest.size())));
    if (name.ok()) return name->ns + ":" + name->qualifier;
  }
  return {};
}

std::int64_t EndedAtMs(const ::ratchet::pb::EndedProcedure& ended) {
  return static_cast<std::int64_t>(ended.procedure().updated_wall_ms());
}

bool Succeeded(const ::ratchet::pb::EndedProcedure& ended) { return ended.procedure().state() == "SUCCESS"; }

Result<HistoryFilter> HistoryFilter::Of(const ::ratchet::pb::ListHistoryRequest& request) {
  HistoryFilter filter;
  filter.type_ = request.type();
  if (!request.table().empty()) {
    RATCHET_ASSIGN(const TableName table, TableName::Parse(request.table()));
    filter.table_ = table.ns + ":" + table.qualifier;
  }
  if (request.has_since_wall_ms()) filter.since_ms_ = request.since_wall_ms();
  if (request.has_until_wall_ms()) filter.until_ms_ = request.until_wall_ms();
  if (request.outcome() == "success") filter.outcome_ = Outcome::kSuccess;
  if (request.outcome() == "failed") filter.outcome_ = Outcome::kFailed;
  if (!request.outcome().empty() && filter.outcome_ == Outcome::kAny) {
    return Error(Code::kInvalidArgument,
                 fmt::format("invalid outcome '{}'; valid outcomes: success, failed", request.outcome()));
  }
  return filter;
}

bool HistoryFilter::Matches(const ::ratchet::pb::EndedProcedure& ended) const {
  const ::ratchet::pb::ProcedureInfo& info = ended.procedure();
  if (root_ != 0 && ended.root() != root_) return false;
  if (!type_.empty() && info.type() != type_) return false;
  if (outcome_ != Outcome::kAny && Succeeded(ended) != (outcome_ == Outcome::kSuccess)) return false;
  if (!MayMatch(EndedAtMs(ended), EndedAtMs(ended))) return false;
  return table_.empty() || TableInText(info.text()) == table_;
}

bool HistoryFilter::Matches(const ::ratchet::pb::Failover& failover) const {
  return MayMatch(failover.elected_wall_ms(), failover.elected_wall_ms());
}

}  // namespace ratchet::master
