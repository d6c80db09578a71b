#include "chaos/verdict/folders.h"

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> FoldersIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory()) names.push_back(it->path().filename());
  }
  if (error) return Error(Code::kIo, fmt::format("{}: {}", folder.string(), error.message()));
  return names;
}

}  // namespace

Result<std::vector<std::string>> CompareFolders(const ExpectedFolders& expected, const fs::path& root) {
  std::vector<std::string> wrong;
  RATCHET_ASSIGN(const auto logs, FoldersIn(root / "wals"));
  for (const auto& name : logs) {
    if (!expected.servers.contains(name))
      wrong.push_back(fmt::format("wals/{} does not belong to a live server", name));
  }
  std::map<TableName, int> tables;
  RATCHET_ASSIGN(const auto namespaces, FoldersIn(root / "data"));
  for (const auto& ns : namespaces) {
    RATCHET_ASSIGN(const auto folders, FoldersIn(root / "data" / ns));
    for (const auto& folder : folders) {
      const TableName table(ns, folder.substr(0, folder.rfind('.')));  // the pid that made it follows the dot
      ++tables[table];
      const auto known = expected.regions.find(table);
      if (known == expected.regions.end()) {
        wrong.push_back(fmt::format("data/{}/{} does not belong to a table", ns, folder));
        continue;
      }
      RATCHET_ASSIGN(const auto regions, FoldersIn(root / "data" / ns / folder));
      for (const auto& region : regions) {
        if (!region.starts_with('.') && !known->second.contains(region))
          wrong.push_back(fmt::format("data/{}/{}/{} does not belong to a region", ns, folder, region));
      }
    }
  }
  for (const auto& [table, regions] : expected.regions) {
    const int count = tables[table];
    if (count != 1) wrong.push_back(fmt::format("table {} has {} directories", table.ToString(), count));
  }
  return wrong;
}

}  // namespace ratchet::chaos
