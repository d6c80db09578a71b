#include "master/files/archive_cleaner.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "master/files/directory_tools.h"
#include "master/files/posix_cluster_files.h"

namespace ratchet::master {
namespace {

// Names in a directory that may be missing or no directory at all.
Result<std::vector<std::string>> NamesIn(io::Directory& parent, const std::string& path) {
  auto directory = OpenPath(parent, path);
  if (!directory.ok()) {
    if (directory.error().code() == Code::kNotFound) return std::vector<std::string>{};
    return directory.error();
  }
  return (*directory)->List();
}

}  // namespace

Status ArchiveCleaner::Find(const std::string& epoch, std::vector<std::string>* found) {
  const std::string wals = epoch + "/" + kWalsFolder;
  RATCHET_ASSIGN(const std::vector<std::string> servers, NamesIn(archive_, wals));
  for (const std::string& name : servers) found->push_back(wals + "/" + name);
  const std::string data = epoch + "/" + kDataFolder;
  RATCHET_ASSIGN(const std::vector<std::string> namespaces, NamesIn(archive_, data));
  for (const std::string& ns : namespaces) {
    const std::string folder = data + "/" + ns;
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesIn(archive_, folder));
    for (const std::string& table : tables) found->push_back(folder + "/" + table);
  }
  return Ok();
}

Result<std::vector<std::string>> ArchiveCleaner::RunOnce() {
  std::vector<std::string> found;
  RATCHET_ASSIGN(const std::vector<std::string> epochs, archive_.List());
  for (const std::string& epoch : epochs) RATCHET_TRY(Find(epoch, &found));

  const TimePoint now = clock_.Now();
  std::vector<std::string> deleted;
  std::map<std::string, TimePoint> still;
  for (const std::string& path : found) {
    const auto decided = decided_.find(path);
    if (decided == decided_.end() && !RATCHET_MUTANT("cleaner.one_stage")) {
      still[path] = now;  // named now, deleted by a later run
      continue;
    }
    if (decided != decided_.end() && now - decided->second < options_.ttl) {
      still.insert(*decided);
      continue;
    }
    const std::size_t slash = path.rfind('/');
    RATCHET_ASSIGN(const DirectoryPtr parent, OpenPath(archive_, path.substr(0, slash)));
    const auto unchecked = []() -> Status { return Ok(); };
    const std::function<Status()> check = RATCHET_MUTANT("cleaner.no_check") ? unchecked : check_;
    RATCHET_TRY(RemoveTree(*parent, path.substr(slash + 1), check));
    deleted.push_back(path);
  }
  decided_ = std::move(still);
  return deleted;
}

}  // namespace ratchet::master
