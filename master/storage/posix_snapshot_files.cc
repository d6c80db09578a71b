// The part of PosixClusterFiles that handles snapshots: <root>/snapshots/<name>.<pid>/.
#include <fmt/core.h>

#include "common/base/log.h"
#include "master/storage/checked_content.h"
#include "master/storage/directory_tools.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {

Status PosixClusterFiles::CreateSnapshotLayout(const std::string& snapshot,
                                               const std::vector<std::string>& encoded_regions) {
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr folder, EnsureDirectory(*root_, kSnapshotsFolder));
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr made, EnsureDirectory(*folder, snapshot));
  return MakeRegions(*made, encoded_regions);
}

Status PosixClusterFiles::PutSnapshotFile(const std::string& snapshot, const std::string& name,
                                          const std::string& content) {
  RATCHET_ASSIGN(const DirectoryPtr directory, OpenPath(*root_, fmt::format("{}/{}", kSnapshotsFolder, snapshot)));
  RATCHET_TRY(check_());
  RATCHET_TRY(io::WriteFileAtomically(*directory, name, WithChecksum(content)));
  return SyncOrDie(*directory);
}

Result<std::string> PosixClusterFiles::ReadSnapshotFile(const std::string& snapshot, const std::string& name) {
  const std::string path = fmt::format("{}/{}", kSnapshotsFolder, snapshot);
  RATCHET_ASSIGN(const DirectoryPtr directory, OpenPath(*root_, path));
  RATCHET_ASSIGN(const std::string bytes, directory->ReadAll(name));
  RATCHET_ASSIGN(const std::string_view content, CheckedContent(bytes, path + "/" + name));
  return std::string(content);
}

Result<std::vector<std::string>> PosixClusterFiles::ListSnapshots() {
  RATCHET_ASSIGN(std::vector<std::string> names, NamesBelow(*root_, kSnapshotsFolder));
  std::erase_if(names, [](const std::string& name) {
    const bool ours = CreatorOf("snapshots/" + name).valid();
    if (!ours) RATCHET_LOG(kWarn, "Skipping {}/{}: not a snapshot's directory", kSnapshotsFolder, name);
    return !ours;
  });
  return names;
}

Status PosixClusterFiles::ArchiveSnapshot(const std::string& snapshot, Epoch epoch) {
  const auto folder = OpenPath(*root_, kSnapshotsFolder);
  if (!folder.ok()) return folder.error().code() == Code::kNotFound ? Ok() : Status(folder.error());
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr target, EnsurePath(*archive_, fmt::format("{}/{}", epoch, kSnapshotsFolder)));
  RATCHET_TRY(check_());
  return MoveDirectory(**folder, snapshot, *target, snapshot);
}

}  // namespace ratchet::master
