#include "regionserver/host/orphan_edits.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/light_directory.h"
#include "regionserver/wal/log_splitter.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

constexpr std::string_view kFlushedPrefix = "flushed.";

// Returns the names in the folder `path` below the root; none when it is missing or is a file.
Result<std::vector<std::string>> NamesIn(io::Directory& root, const std::string& path) {
  auto folder = io::OpenLightDirectory(root, path);
  if (folder.ok()) return (*folder)->List();
  if (folder.error().code() == Code::kNotFound || folder.error().code() == Code::kFailedPrecondition)
    return std::vector<std::string>();
  return folder.error();
}

// Opens the folder `name` of `parent`, or makes it. Its name is durable, whichever process made it (S3: durable fence
// mark).
Result<std::unique_ptr<io::Directory>> FolderIn(io::Directory& parent, const std::string& name) {
  const Status made = parent.MakeDir(name);
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made.error();
  const Status synced = parent.Sync();
  if (!io::DieOnFailedSync(synced, parent.path())) return synced.error();
  return parent.OpenDir(name);
}

}  // namespace

std::string FlushedMark(std::string_view region, std::uint64_t sequence) {
  return fmt::format("{}{}.{}", kFlushedPrefix, region, sequence);
}

std::optional<std::uint64_t> FlushedUpTo(const std::vector<std::string>& names, std::string_view region) {
  const std::string prefix = fmt::format("{}{}.", kFlushedPrefix, region);
  std::optional<std::uint64_t> greatest;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    std::uint64_t sequence = 0;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), sequence);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    greatest = std::max(greatest.value_or(0), sequence);
  }
  return greatest;
}

Status MissingRegions::AddRegionsOf(const std::string& path, bool archived) {
  RATCHET_ASSIGN(const std::vector<std::string> namespaces, NamesIn(root_, path));
  for (const std::string& name_space : namespaces) {
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesIn(root_, path + "/" + name_space));
    for (const std::string& table : tables) {
      const std::string folder = fmt::format("{}/{}/{}", path, name_space, table);
      RATCHET_ASSIGN(const std::vector<std::string> regions, NamesIn(root_, folder));
      for (const std::string& name : regions) {
        // In quarantine a mark follows the region's name.
        const std::string region = name.substr(0, archived ? name.size() : name.find('.'));
        if (archived) {
          places_[region].archived = true;
        } else {
          places_[region].quarantined = folder + "/" + name;
        }
      }
    }
  }
  return Ok();
}

Status MissingRegions::ListPlaces() {
  places_.clear();
  RATCHET_ASSIGN(const std::vector<std::string> epochs, NamesIn(root_, "archive"));
  for (const std::string& epoch : epochs) {
    for (const char* kind : {"data", "regions"})
      RATCHET_TRY(AddRegionsOf(fmt::format("archive/{}/{}", epoch, kind), true));
  }
  RATCHET_TRY(AddRegionsOf(fmt::format("{}/data", kQuarantineFolder), false));
  RATCHET_ASSIGN(log_names_, logs_.List());
  return Ok();
}

Result<std::unique_ptr<io::Directory>> MissingRegions::PlaceFor(const std::string& region,
                                                                std::uint64_t last_sequence) {
  if (!IsDirectoryName(region))
    return Error(Code::kCorruption, fmt::format("'{}' is not the name of a region", region));
  Place place;
  {
    const MutexLock lock(mutex_);
    if (!listed_) RATCHET_TRY(ListPlaces());
    listed_ = true;
    if (const auto flushed = FlushedUpTo(log_names_, region); flushed && last_sequence <= *flushed)
      return std::unique_ptr<io::Directory>();
    if (const auto found = places_.find(region); found != places_.end()) place = found->second;
  }
  if (!place.quarantined.empty()) return io::OpenLightDirectory(root_, place.quarantined);
  if (place.archived) return std::unique_ptr<io::Directory>();
  RATCHET_ASSIGN(const auto quarantine, FolderIn(root_, std::string(kQuarantineFolder)));
  RATCHET_ASSIGN(const auto edits, FolderIn(*quarantine, std::string(kKeptEditsFolder)));
  return FolderIn(*edits, region);
}

Result<std::size_t> AdoptKeptEdits(io::Directory& root, const std::string& region, io::Directory& directory) {
  const std::string parent = fmt::format("{}/{}", kQuarantineFolder, kKeptEditsFolder);
  auto kept = io::OpenLightDirectory(root, parent + "/" + region);
  if (!kept.ok() && kept.error().code() == Code::kNotFound) return std::size_t{0};
  if (!kept.ok()) return kept.error();
  RATCHET_ASSIGN(const std::vector<std::string> names, (*kept)->List());
  std::size_t moved = 0;
  for (const std::string& name : names) {
    if (!name.starts_with(kEditsPrefix) || RATCHET_MUTANT("region.leave_kept_edits")) continue;
    const Status renamed = (*kept)->RenameTo(name, directory, name);
    if (!renamed.ok() && renamed.error().code() != Code::kNotFound) return renamed.error();
    moved += renamed.ok() ? 1 : 0;
  }
  for (io::Directory* changed : {&directory, kept->get()}) {
    const Status synced = changed->Sync();
    if (!io::DieOnFailedSync(synced, changed->path())) return synced.error();
  }
  if (moved > 0) RATCHET_LOG(kWarn, "region {}: {} files of kept edits are moved into its directory", region, moved);
  if (const auto edits = io::OpenLightDirectory(root, parent); edits.ok())
    IgnoreResult((*edits)->RemoveDir(region),
                 "the folder has an unfinished file, or another process has removed the folder");
  return moved;
}

}  // namespace ratchet::regionserver
