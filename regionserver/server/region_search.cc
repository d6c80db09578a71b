#include "regionserver/server/region_search.h"

#include <fmt/core.h>

namespace ratchet::regionserver {
namespace {

bool IsGone(const Error& error) { return error.code() == Code::kNotFound; }

}  // namespace

Status RegionSearch::ListTables() {
  tables_.clear();
  RATCHET_ASSIGN(const auto data, root_.OpenDir("data"));
  RATCHET_ASSIGN(const auto namespaces, data->List());
  for (const std::string& name_space : namespaces) {
    auto folder = data->OpenDir(name_space);
    if (!folder.ok() && IsGone(folder.error())) continue;  // removed meanwhile
    if (!folder.ok()) return folder.error();
    RATCHET_ASSIGN(const auto tables, (*folder)->List());
    for (const std::string& name : tables) {
      auto table = (*folder)->OpenDir(name);
      if (!table.ok() && IsGone(table.error())) continue;
      if (!table.ok()) return table.error();  // never "gone" by mistake: that would drop edits
      RATCHET_ASSIGN(const auto regions, (*table)->List());
      for (const std::string& region : regions) tables_[region] = name_space + "/" + name;
    }
  }
  return Ok();
}

Result<std::string> RegionSearch::TableOf(const std::string& encoded_name) {
  MutexLock lock(mutex_);
  if (!listed_) RATCHET_TRY(ListTables());
  listed_ = true;
  const auto found = tables_.find(encoded_name);
  if (found == tables_.end()) return Error(Code::kNotFound, fmt::format("no table has a region {}", encoded_name));
  return found->second;
}

}  // namespace ratchet::regionserver
