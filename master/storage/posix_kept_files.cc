// The part of PosixClusterFiles that finds kept edits and retired logs.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "common/io/fenced_directory.h"
#include "master/storage/directory_tools.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {

Result<std::map<std::string, std::size_t>> PosixClusterFiles::ListKeptEdits() {
  const std::string place = fmt::format("{}/{}", kQuarantineFolder, kKeptEditsFolder);
  std::map<std::string, std::size_t> kept;
  RATCHET_ASSIGN(const std::vector<std::string> regions, NamesBelow(*root_, place));
  for (const std::string& region : regions) {
    RATCHET_ASSIGN(const std::vector<std::string> names, NamesBelow(*root_, place + "/" + region));
    const auto files =
        std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.starts_with("edits."); });
    if (files > 0) kept[region] = static_cast<std::size_t>(files);
  }
  return kept;
}

Result<bool> PosixClusterFiles::WereRetired(const ServerName& server) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  RATCHET_ASSIGN(const std::vector<std::string> kept, NamesBelow(*root_, kKeptWalsFolder));
  if (has(kept, server.ToString())) return true;
  RATCHET_ASSIGN(const std::vector<std::string> epochs, archive_->List());
  for (const std::string& epoch : epochs) {
    RATCHET_ASSIGN(const std::vector<std::string> wals, NamesBelow(*archive_, epoch + "/" + kWalsFolder));
    if (has(wals, server.ToString() + io::kSplittingSuffix)) return true;
    RATCHET_ASSIGN(const std::vector<std::string> shipped, NamesBelow(*archive_, epoch + "/" + kKeptWalsFolder));
    if (has(shipped, server.ToString())) return true;
  }
  return false;
}

}  // namespace ratchet::master
