#include "master/storage/archive_cleaner.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "master/storage/directory_tools.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {
Status ArchiveCleaner::Find(const std::string& epoch, std::vector<Unit>* found) {
  const std::string wals = epoch + "/" + kWalsFolder;
  RATCHET_ASSIGN(const std::vector<std::string> servers, NamesBelow(archive_, wals));
  for (const std::string& name : servers) found->push_back({wals + "/" + name});
  const std::string snapshots = epoch + "/" + kSnapshotsFolder;
  RATCHET_ASSIGN(const std::vector<std::string> taken, NamesBelow(archive_, snapshots));
  for (const std::string& name : taken) found->push_back({snapshots + "/" + name});
  const std::string data = epoch + "/" + kDataFolder;
  RATCHET_ASSIGN(const std::vector<std::string> namespaces, NamesBelow(archive_, data));
  for (const std::string& ns : namespaces) {
    const std::string folder = data + "/" + ns;
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesBelow(archive_, folder));
    for (const std::string& table : tables) found->push_back({folder + "/" + table});
  }
  const std::string regions = epoch + "/" + kRetiredRegionsFolder;
  RATCHET_ASSIGN(const std::vector<std::string> their_namespaces, NamesBelow(archive_, regions));
  for (const std::string& ns : their_namespaces) RATCHET_TRY(FindRegions(regions + "/" + ns, found));
  const std::string files = epoch + "/" + kRetiredFilesFolder;
  RATCHET_ASSIGN(const std::vector<std::string> parts, NamesBelow(archive_, files));
  for (const std::string& part : parts) RATCHET_TRY(FindFiles(files + "/" + part, found));
  return Ok();
}

// Each region is a unit of its own, because more regions of the same table may arrive at any time.
Status ArchiveCleaner::FindRegions(const std::string& path, std::vector<Unit>* found) {
  RATCHET_ASSIGN(const std::vector<std::string> tables, NamesBelow(archive_, path));
  for (const std::string& table : tables) {
    const std::string folder = path + "/" + table;
    RATCHET_ASSIGN(const std::vector<std::string> regions, NamesBelow(archive_, folder));
    for (const std::string& region : regions) found->push_back({folder + "/" + region});
    if (regions.empty()) found->push_back({folder, true});
  }
  return Ok();
}

// Each file is a unit of its own, because more files may arrive in the same directories at any time.
Status ArchiveCleaner::FindFiles(const std::string& path, std::vector<Unit>* found) {
  auto directory = OpenPath(archive_, path);
  if (!directory.ok()) {
    if (directory.error().code() == Code::kFailedPrecondition) found->push_back({path});  // a file
    if (directory.error().code() == Code::kFailedPrecondition || directory.error().code() == Code::kNotFound)
      return Ok();
    return directory.error();
  }
  RATCHET_ASSIGN(const std::vector<std::string> names, (*directory)->List());
  if (names.empty()) found->push_back({path, true});
  for (const std::string& name : names) RATCHET_TRY(FindFiles(path + "/" + name, found));
  return Ok();
}

Status ArchiveCleaner::Delete(const Unit& unit) {
  const std::size_t slash = unit.path.rfind('/');
  const std::string name = unit.path.substr(slash + 1);
  RATCHET_ASSIGN(const DirectoryPtr parent, OpenPath(archive_, unit.path.substr(0, slash)));
  const auto unchecked = []() -> Status { return Ok(); };
  const std::function<Status()> check = RATCHET_MUTANT("cleaner.no_check") ? unchecked : check_;
  if (!unit.folder) {
    const Status removed = RemoveTree(*parent, name, check);
    return !removed.ok() && removed.error().code() == Code::kNotFound ? Ok() : removed;
  }
  RATCHET_TRY(check());
  IgnoreResult(parent->RemoveDir(name), "no longer empty; a later run handles the new entries");
  return Ok();
}

Result<std::vector<std::string>> ArchiveCleaner::RunOnce() {
  std::vector<Unit> found;
  RATCHET_ASSIGN(const std::vector<std::string> epochs, archive_.List());
  for (const std::string& epoch : epochs) RATCHET_TRY(Find(epoch, &found));

  const TimePoint now = clock_.Now();
  std::vector<std::string> deleted;
  std::map<std::string, TimePoint> still;
  for (const Unit& unit : found) {
    const auto decided = decided_.find(unit.path);
    if (decided == decided_.end() && !RATCHET_MUTANT("cleaner.one_stage")) {
      still[unit.path] = now;  // recorded now, deleted by a later run
      continue;
    }
    if (decided != decided_.end() && now - decided->second < options_.ttl.Get()) {
      still.insert(*decided);
      continue;
    }
    RATCHET_TRY(Delete(unit));
    deleted.push_back(unit.path);
  }
  decided_ = std::move(still);
  return deleted;
}

}  // namespace ratchet::master
