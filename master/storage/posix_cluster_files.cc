#include "master/storage/posix_cluster_files.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "master/storage/descriptor_file.h"
#include "master/storage/directory_tools.h"
#include "master/storage/drop_marks.h"

namespace ratchet::master {
namespace {

// Splits "<namespace>/<table>.<pid>" into folder and name.
Result<std::pair<std::string, std::string>> SplitTableDirectory(const std::string& directory) {
  const std::vector<std::string> parts = SplitPath(directory);
  if (parts.size() != 2 || parts[1].rfind('.') == std::string::npos) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a table directory", directory));
  }
  return std::pair{parts[0], parts[1]};
}

// For servers that die together; each thread reads its server's logs one after the other.
constexpr std::size_t kSealThreads = 3;

// Returns true for a region's directory: 32 hex digits. A table's directory also has its descriptors.
bool IsEncodedName(const std::string& name) {
  constexpr std::size_t kDigits = 32;
  return name.size() == kDigits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

PosixClusterFiles::PosixClusterFiles(io::Disk& disk, DirectoryPtr root, DirectoryPtr wals, DirectoryPtr data,
                                     DirectoryPtr archive, std::function<Status()> check)
    : disk_(disk),
      root_(std::move(root)),
      wals_(std::move(wals)),
      data_(std::move(data)),
      archive_(std::move(archive)),
      check_(std::move(check)),
      sealers_({.name = "log-sealer", .threads = kSealThreads, .urgent_threads = 1}),
      copiers_({.name = "snapshot-copier"}) {}

PosixClusterFiles::~PosixClusterFiles() { Stop(); }

Result<std::unique_ptr<PosixClusterFiles>> PosixClusterFiles::Open(io::Disk& disk, const std::string& root,
                                                                   std::function<Status()> check) {
  RATCHET_ASSIGN(DirectoryPtr top, disk.OpenOrMake(root));
  RATCHET_ASSIGN(DirectoryPtr wals, OpenOrMakeDirectory(*top, kWalsFolder));
  RATCHET_ASSIGN(DirectoryPtr data, OpenOrMakeDirectory(*top, kDataFolder));
  RATCHET_ASSIGN(DirectoryPtr archive, OpenOrMakeDirectory(*top, kArchiveFolder));
  RATCHET_ASSIGN(const DirectoryPtr quarantine, OpenOrMakeDirectory(*top, kQuarantineFolder));
  auto checked = [check = std::move(check)] { return RATCHET_MUTANT("files.no_check") ? Ok() : check(); };
  return std::unique_ptr<PosixClusterFiles>(new PosixClusterFiles(
      disk, std::move(top), std::move(wals), std::move(data), std::move(archive), std::move(checked)));
}

Status PosixClusterFiles::CreateTableLayout(const std::string& directory, ProcId descriptor_id,
                                            const TableDescriptor& descriptor,
                                            const std::vector<std::string>& encoded_regions) {
  RATCHET_ASSIGN(const auto place, SplitTableDirectory(directory));
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr folder, EnsureDirectory(*data_, place.first));
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr table, EnsureDirectory(*folder, place.second));
  RATCHET_ASSIGN(const std::vector<std::string> names, table->List());
  // S115 (missing row is not evidence)
  if (names.empty()) RATCHET_TRY(AddMark(*table, DroppedName(descriptor_id.value())));

  RATCHET_TRY(PutDescriptor(*table, DescriptorFileName(descriptor_id.value(), descriptor_id), descriptor));
  return MakeRegions(*table, encoded_regions);
}

Status PosixClusterFiles::ArchiveTableLayout(const std::string& directory, Epoch epoch) {
  RATCHET_ASSIGN(const auto place, SplitTableDirectory(directory));
  auto folder = data_->OpenDir(place.first);
  // A directory that is gone, or cannot exist (a name that the file system refuses), needs no archiving.
  if (!folder.ok()) return IsNotThere(folder.error().code()) ? Ok() : Status(folder.error());
  const auto there = (*folder)->Exists(place.second);
  if (!there.ok() && IsNotThere(there.error().code())) return Ok();
  const auto may_go = MayGo(directory);
  if (!may_go.ok() && !IsNotThere(may_go.error().code())) return may_go.error();
  if (may_go.ok() && !*may_go && !RATCHET_MUTANT("reconciler.rows_decide")) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} stays in data/: it has no mark dropped.* that allows its removal", directory));
  }
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr target,
                 EnsurePath(*archive_, fmt::format("{}/{}/{}", epoch, kDataFolder, place.first)));
  RATCHET_TRY(check_());
  return MoveDirectory(**folder, place.second, *target, place.second);
}

Status PosixClusterFiles::ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch epoch) {
  const auto table = OpenPath(*data_, table_directory);
  if (!table.ok()) return table.error().code() == Code::kNotFound ? Ok() : Status(table.error());
  RATCHET_ASSIGN(const bool there, (*table)->Exists(encoded));
  if (there) RATCHET_TRY(check_());
  if (!there) return SyncOrDie(**table);  // an earlier call may have ended before its sync
  RATCHET_ASSIGN(const DirectoryPtr target,
                 EnsurePath(*archive_, fmt::format("{}/{}/{}", epoch, kRetiredRegionsFolder, table_directory)));
  RATCHET_TRY(check_());
  return MoveDirectory(**table, encoded, *target, encoded);
}

Status PosixClusterFiles::PutDescriptor(io::Directory& table, const std::string& name,
                                        const TableDescriptor& descriptor) {
  const std::string content = EncodeDescriptorFile(descriptor);
  RATCHET_ASSIGN(const bool written, table.Exists(name));
  if (written) {
    RATCHET_ASSIGN(const std::string found, table.ReadAll(name));
    if (found != content) {
      return Error(Code::kFailedPrecondition, fmt::format("{}/{} exists with other content", table.path(), name));
    }
    RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, table.OpenForRead(name));
    const Status synced = file->Sync();  // its writer may have died before its sync
    if (!io::DieOnFailedSync(synced, name)) return synced;
    return Ok();
  }
  RATCHET_TRY(check_());
  return io::WriteFileAtomically(table, name, content);
}

Status PosixClusterFiles::WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId writer,
                                          const TableDescriptor& descriptor) {
  RATCHET_ASSIGN(const DirectoryPtr table, OpenPath(*data_, directory));
  RATCHET_TRY(PutDescriptor(*table, DescriptorFileName(number, writer), descriptor));
  return SyncOrDie(*table);
}

Result<StoredDescriptor> PosixClusterFiles::ReadDescriptor(const std::string& directory,
                                                           std::optional<std::uint64_t> number) {
  RATCHET_ASSIGN(const DirectoryPtr table, OpenPath(*data_, directory));
  RATCHET_ASSIGN(const std::vector<std::string> names, table->List());
  std::optional<DescriptorName> newest;
  for (const std::string& name : names) {
    const auto found = ParseDescriptorFileName(name);
    if (!found.has_value() || (number.has_value() && found->number != *number)) continue;
    if (!newest.has_value() || *newest < *found) newest = found;
  }
  if (!newest.has_value()) {
    return Error(Code::kNotFound, number ? fmt::format("{} has no descriptor {}", directory, *number)
                                         : fmt::format("{} has no descriptor", directory));
  }
  RATCHET_ASSIGN(const std::string bytes, table->ReadAll(newest->file));
  auto descriptor = DecodeDescriptorFile(bytes);
  if (!descriptor.ok()) return descriptor.error().Annotate(directory);
  return StoredDescriptor{newest->number, std::move(*descriptor)};
}

Result<std::vector<std::string>> PosixClusterFiles::ListTableDirectories() {
  RATCHET_ASSIGN(const std::vector<std::string> folders, data_->List());
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    const auto opened = data_->OpenDir(folder);
    if (SkipsFile(opened, *data_, folder)) continue;
    if (!opened.ok()) return opened.error();
    RATCHET_ASSIGN(const std::vector<std::string> names, (*opened)->List());
    for (const std::string& name : names) {
      std::string directory = folder + "/" + name;
      if (CreatorOf(directory).valid()) {
        found.push_back(std::move(directory));
      } else {
        RATCHET_LOG(kWarn, "Skipping {}/{}: not a table's directory", data_->path(), directory);
      }
    }
  }
  return found;
}

Result<std::vector<std::string>> PosixClusterFiles::ListRegionDirectories(const std::string& table_directory) {
  RATCHET_ASSIGN(const DirectoryPtr table, OpenPath(*data_, table_directory));
  RATCHET_ASSIGN(std::vector<std::string> names, table->List());
  std::erase_if(names, [](const std::string& name) { return !IsEncodedName(name); });
  return names;
}

Status PosixClusterFiles::MakeRegionDirectories(const std::string& table_directory,
                                                const std::vector<std::string>& encoded_regions) {
  RATCHET_ASSIGN(const DirectoryPtr table, OpenPath(*data_, table_directory));
  return MakeRegions(*table, encoded_regions);
}

Status PosixClusterFiles::MakeRegions(io::Directory& table, const std::vector<std::string>& encoded_regions) {
  for (const std::string& region : encoded_regions) {
    RATCHET_TRY(check_());
    const Status made = table.MakeDir(region);
    if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made;
  }
  return SyncOrDie(table);
}

Result<std::string> PosixClusterFiles::QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                                        const std::string& mark) {
  const std::string place = fmt::format("{}/{}/{}", kQuarantineFolder, kDataFolder, table_directory);
  const std::string to = fmt::format("{}.{}", encoded, mark);
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr target, EnsurePath(*root_, place));
  const auto table = OpenPath(*data_, table_directory);
  if (!table.ok() && table.error().code() != Code::kNotFound) return table.error();
  if (table.ok()) {
    RATCHET_TRY(check_());
    RATCHET_TRY(MoveDirectory(**table, encoded, *target, to));
  }
  RATCHET_ASSIGN(const bool there, target->Exists(to));
  return there ? place + "/" + to : std::string();
}

void PosixClusterFiles::Stop() {
  stopping_ = true;
  copiers_.Stop();
  sealers_.Stop();
}

}  // namespace ratchet::master
