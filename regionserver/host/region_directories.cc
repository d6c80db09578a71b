#include "regionserver/host/region_directories.h"

#include <string_view>

#include <fmt/core.h>

#include "common/io/light_directory.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

bool IsGone(const Error& error) { return error.code() == Code::kNotFound; }
bool IsFile(const Error& error) { return error.code() == Code::kFailedPrecondition; }

// Checks for "<table>.<pid>"
bool IsTableName(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && dot + 1 < name.size() &&
         name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
}

}  // namespace

Result<std::unique_ptr<io::Directory>> OpenRegionDirectory(io::Directory& root, const std::string& table_dir,
                                                           const std::string& encoded_name) {
  std::string_view rest = table_dir;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    if (!IsDirectoryName(part)) {
      return Error(Code::kInvalidArgument, fmt::format("'{}' is not a table's directory", table_dir));
    }
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return io::OpenLightDirectory(root, fmt::format("data/{}/{}", table_dir, encoded_name));
}

Status RegionSearch::ListTables() {
  tables_.clear();
  RATCHET_ASSIGN(const auto data, root_.OpenDir("data"));
  RATCHET_ASSIGN(const auto namespaces, data->List());
  for (const std::string& name_space : namespaces) {
    auto folder = data->OpenDir(name_space);
    // removed meanwhile, or not a directory
    if (!folder.ok() && (IsGone(folder.error()) || IsFile(folder.error()))) continue;
    if (!folder.ok()) return folder.error();
    RATCHET_ASSIGN(const auto tables, (*folder)->List());
    for (const std::string& name : tables) {
      auto table = (*folder)->OpenDir(name);
      if (!table.ok() && (IsGone(table.error()) || (IsFile(table.error()) && !IsTableName(name)))) continue;
      if (!table.ok()) return table.error();  // an error must not mean "gone": that would drop edits
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
