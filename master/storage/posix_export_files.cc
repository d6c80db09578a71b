// The part of PosixClusterFiles that handles exports of snapshots: directories outside of the root.
#include <utility>

#include <fmt/core.h>

#include "master/storage/checked_content.h"
#include "master/storage/directory_tools.h"
#include "master/storage/export_copy.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {

std::function<Status()> PosixClusterFiles::GoesOn() {
  return [this]() -> Status { return stopping_ ? Status(Error(Code::kAborted, "this master is stopping")) : check_(); };
}

void PosixClusterFiles::CopyInBackground(std::function<Result<CopiedFiles>()> copy,
                                         std::function<void(Result<CopiedFiles>)> done) {
  const auto drop = [done] { done(Error(Code::kAborted, "this master is stopping")); };
  static_cast<void>(copiers_.Submit({[copy = std::move(copy), done] { done(copy()); }, drop}));
}

Result<CopiedFiles> PosixClusterFiles::ExportRegionsNow(const std::string& snapshot,
                                                        const std::vector<std::string>& encoded_regions,
                                                        const std::string& place) {
  RATCHET_ASSIGN(const DirectoryPtr target, disk_.OpenOrMake(place));
  CopiedFiles sum;
  for (const std::string& encoded : encoded_regions) {
    const std::string place_of_part = fmt::format("{}/{}/{}", kSnapshotsFolder, snapshot, encoded);
    RATCHET_ASSIGN(const DirectoryPtr part, OpenPath(*root_, place_of_part));
    RATCHET_ASSIGN(const DirectoryPtr copy, disk_.OpenOrMake(place + "/" + encoded));
    RATCHET_ASSIGN(const CopiedFiles copied, ExportRegionFiles(*part, *copy, GoesOn()));
    sum.files += copied.files;
    sum.bytes += copied.bytes;
  }
  return sum;
}

Result<CopiedFiles> PosixClusterFiles::ImportRegionsNow(const std::string& place,
                                                        const std::vector<std::string>& encoded_regions,
                                                        const std::string& snapshot) {
  CopiedFiles sum;
  for (const std::string& encoded : encoded_regions) {
    RATCHET_ASSIGN(const DirectoryPtr source, disk_.Open(place + "/" + encoded));
    const std::string place_of_part = fmt::format("{}/{}/{}", kSnapshotsFolder, snapshot, encoded);
    RATCHET_ASSIGN(const DirectoryPtr part, OpenPath(*root_, place_of_part));
    RATCHET_ASSIGN(const CopiedFiles copied, ImportRegionFiles(*source, *part, GoesOn()));
    sum.files += copied.files;
    sum.bytes += copied.bytes;
  }
  return sum;
}

void PosixClusterFiles::ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                                      const std::string& place, std::function<void(Result<CopiedFiles>)> done) {
  CopyInBackground([=, this] { return ExportRegionsNow(snapshot, encoded_regions, place); }, std::move(done));
}

void PosixClusterFiles::ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                                      const std::string& snapshot, std::function<void(Result<CopiedFiles>)> done) {
  CopyInBackground([=, this] { return ImportRegionsNow(place, encoded_regions, snapshot); }, std::move(done));
}

Status PosixClusterFiles::PutExportFile(const std::string& place, const std::string& name, const std::string& content) {
  RATCHET_ASSIGN(const DirectoryPtr directory, disk_.OpenOrMake(place));
  return io::WriteFileAtomically(*directory, name, WithChecksum(content));
}

Result<std::string> PosixClusterFiles::ReadExportFile(const std::string& place, const std::string& name) {
  RATCHET_ASSIGN(const DirectoryPtr directory, disk_.Open(place));
  RATCHET_ASSIGN(const std::string bytes, directory->ReadAll(name));
  RATCHET_ASSIGN(const std::string_view content, CheckedContent(bytes, place + "/" + name));
  return std::string(content);
}

}  // namespace ratchet::master
