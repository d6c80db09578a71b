#include "master/storage/posix_cluster_files.h"

#include <set>
#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/env/drop_marks.h"
#include "master/storage/descriptor_file.h"
#include "master/storage/directory_tools.h"
#include "master/storage/log_seal.h"

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

// Returns true, and logs the name, for a stray file among directories.
bool SkipsFile(const Result<DirectoryPtr>& opened, const io::Directory& parent, const std::string& name) {
  if (opened.ok() || opened.error().code() != Code::kFailedPrecondition) return false;
  RATCHET_LOG(kWarn, "Skipping {}/{}: it is a file, expected a directory", parent.path(), name);
  return true;
}

std::string SplittingName(const ServerName& server) { return server.ToString() + io::kSplittingSuffix; }

}  // namespace

PosixClusterFiles::PosixClusterFiles(io::Disk& disk, DirectoryPtr root, DirectoryPtr wals, DirectoryPtr data,
                                     DirectoryPtr archive, std::function<Status()> check)
    : disk_(disk),
      root_(std::move(root)),
      wals_(std::move(wals)),
      data_(std::move(data)),
      archive_(std::move(archive)),
      check_(std::move(check)),
      sealers_({"log-sealer", kSealThreads}),
      copiers_({"snapshot-copier", 1}) {}

PosixClusterFiles::~PosixClusterFiles() { Stop(); }

Result<std::unique_ptr<PosixClusterFiles>> PosixClusterFiles::Open(io::Disk& disk, const std::string& root,
                                                                   std::function<Status()> check) {
  RATCHET_ASSIGN(DirectoryPtr top, disk.OpenOrMake(root));
  RATCHET_ASSIGN(DirectoryPtr wals, EnsureDirectory(*top, kWalsFolder));
  RATCHET_ASSIGN(DirectoryPtr data, EnsureDirectory(*top, kDataFolder));
  RATCHET_ASSIGN(DirectoryPtr archive, EnsureDirectory(*top, kArchiveFolder));
  RATCHET_ASSIGN(const DirectoryPtr quarantine, EnsureDirectory(*top, kQuarantineFolder));
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

Result<std::vector<LogDirectory>> PosixClusterFiles::ListLogDirectories() {
  RATCHET_ASSIGN(const std::vector<std::string> names, wals_->List());
  std::vector<LogDirectory> found;
  for (const std::string& name : names) {
    const std::string_view suffix = io::kSplittingSuffix;
    const bool marked = std::string_view(name).ends_with(suffix);
    const auto server = ServerName::Parse(marked ? name.substr(0, name.size() - suffix.size()) : name);
    if (!server.ok()) {
      RATCHET_LOG(kWarn, "Skipping {}/{}: not a server's log directory", wals_->path(), name);
      continue;
    }
    bool fenced = marked;
    const auto directory = wals_->OpenDir(name);
    if (SkipsFile(directory, *wals_, name)) continue;
    if (!directory.ok()) {
      // A fencer has renamed the directory since the listing, so it is fenced.
      if (directory.error().code() != Code::kNotFound) return directory.error();
      fenced = true;
    } else if (!marked) {
      RATCHET_ASSIGN(fenced, (*directory)->Exists(io::kFencedFile));
    }
    found.push_back({*server, fenced});
  }
  return found;
}

// Uses only names in listings, because opening a file, or reading its attributes, may wait for the dead client.
Status PosixClusterFiles::EvictClientsOf(const ServerName& server) {
  if (!evict_) return Ok();
  for (const std::string& name : {server.ToString(), SplittingName(server)}) {
    const auto directory = wals_->OpenDir(name);
    if (!directory.ok() && directory.error().code() == Code::kNotFound) continue;
    if (!directory.ok()) return directory.error();
    RATCHET_ASSIGN(const std::vector<std::string> names, (*directory)->List());
    for (const io::StorageClient& client : io::NotedClients(names, io::kClientNotePrefix)) {
      const Status evicted = evict_(client);
      if (!evicted.ok() && !RATCHET_MUTANT("storage.fence_before_eviction")) return evicted;
    }
  }
  return Ok();
}

void PosixClusterFiles::FenceLogs(const ServerName& server, bool urgent, std::function<void(Status)> done) {
  const auto answer = std::make_shared<std::function<void(Status)>>(std::move(done));
  sealers_.Run({[this, server, answer] { (*answer)(FenceLogsNow(server)); },
                [answer] { (*answer)(Error(Code::kAborted, "the master is stopping")); }, urgent});
}

Status PosixClusterFiles::FenceLogsNow(const ServerName& server) {
  RATCHET_TRY(HitFault("master.before_fence", server.ToString()));
  RATCHET_TRY(check_());
  RATCHET_TRY(EvictClientsOf(server));
  RATCHET_TRY(check_());  // an eviction may take long
  auto fenced = io::FencedDirectory::Fence(*wals_, server.ToString());
  if (!fenced.ok() && fenced.error().code() == Code::kNotFound) {
    RATCHET_ASSIGN(const bool retired, WereRetired(server));
    if (!retired) {
      return Error(Code::kNotFound,
                   fmt::format("wals/{} and wals/{} are missing, and archive/ does not have the logs of "
                               "the server either",
                               server.ToString(), SplittingName(server)));
    }
    RATCHET_LOG(kInfo, "The logs of {} are already retired", server.ToString());
    return Ok();
  }
  if (!fenced.ok()) return fenced.error();
  RATCHET_LOG(kInfo, "Fenced {}", server.ToString());
  return HitFault("master.after_fence", server.ToString());
}

Result<std::vector<SealedLog>> PosixClusterFiles::SealLogsNow(const ServerName& server, LogOwner owner) {
  auto directory = wals_->OpenDir(SplittingName(server));
  if (!directory.ok()) {
    if (directory.error().code() != Code::kNotFound) return directory.error();
    RATCHET_ASSIGN(const bool alive, wals_->Exists(server.ToString()));
    if (alive) return Error(Code::kFailedPrecondition, fmt::format("{} is not fenced", server.ToString()));
    RATCHET_ASSIGN(const bool retired, WereRetired(server));
    if (retired) return std::vector<SealedLog>{};
    return Error(Code::kNotFound, fmt::format("wals/{} is missing", SplittingName(server)));
  }
  auto sealed = SealDirectory(**directory, server.ToString(), owner);
  // One log was removed between the listing and its measurement; this does not mean that the directory is gone.
  if (!sealed.ok() && sealed.error().code() == Code::kNotFound)
    return Error(Code::kUnavailable, sealed.error().message());
  return sealed;
}

void PosixClusterFiles::SealLogs(const ServerName& server, LogOwner owner,
                                 std::function<void(Result<std::vector<SealedLog>>)> done) {
  const auto answer = std::make_shared<std::function<void(Result<std::vector<SealedLog>>)>>(std::move(done));
  sealers_.Run({[this, server, owner, answer] { (*answer)(SealLogsNow(server, owner)); },
                [answer] { (*answer)(Error(Code::kAborted, "the master is stopping")); }, owner.carried_meta});
}

void PosixClusterFiles::Stop() {
  stopping_ = true;
  copiers_.Stop();
  sealers_.Stop();
}

// S57 (damaged log is split as far as readable): moves logs that an operator skipped to quarantine, so that the cleaner
// keeps them.
Status PosixClusterFiles::QuarantineUnsplit(io::Directory& logs, const ServerName& server,
                                            const std::vector<SealedLog>& sealed) {
  RATCHET_ASSIGN(const std::vector<std::string> names, logs.List());
  const std::vector<std::string> unsplit = UnsplitLogs(names, sealed);
  if (unsplit.empty() || RATCHET_MUTANT("files.retire_unsplit")) return Ok();
  const std::string place = fmt::format("{}/{}/{}", kQuarantineFolder, kWalsFolder, server.ToString());
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr target, EnsurePath(*root_, place));
  for (const std::string& name : unsplit) {
    RATCHET_LOG(kError, "{} of {} was not split: moved to {}", name, server.ToString(), place);
    RATCHET_TRY(check_());
    const Status moved = logs.RenameTo(name, *target, name);
    if (!moved.ok() && moved.error().code() != Code::kNotFound) return moved;
  }
  RATCHET_TRY(SyncOrDie(*target));
  return SyncOrDie(logs);
}

Status PosixClusterFiles::KeepLogs(const ServerName& server, const std::vector<SealedLog>& sealed) {
  RATCHET_TRY(check_());
  if (const auto directory = wals_->OpenDir(SplittingName(server)); directory.ok()) {
    RATCHET_TRY(QuarantineUnsplit(**directory, server, sealed));
    RATCHET_TRY(GiveBackUnusedSpace(**directory, sealed, check_));
  }
  RATCHET_ASSIGN(const DirectoryPtr target, EnsureDirectory(*root_, kKeptWalsFolder));
  RATCHET_TRY(check_());
  return MoveDirectory(*wals_, SplittingName(server), *target, server.ToString());
}

Status PosixClusterFiles::ArchiveKeptLogs(const ServerName& server, Epoch epoch) {
  RATCHET_TRY(check_());
  RATCHET_ASSIGN(const DirectoryPtr kept, EnsureDirectory(*root_, kKeptWalsFolder));
  RATCHET_ASSIGN(const DirectoryPtr target, EnsurePath(*archive_, fmt::format("{}/{}", epoch, kKeptWalsFolder)));
  RATCHET_TRY(check_());
  return MoveDirectory(*kept, server.ToString(), *target, server.ToString());
}

Status PosixClusterFiles::RetireLogs(const ServerName& server, const std::vector<SealedLog>& sealed, Epoch epoch) {
  RATCHET_TRY(check_());
  if (const auto directory = wals_->OpenDir(SplittingName(server)); directory.ok()) {
    RATCHET_TRY(QuarantineUnsplit(**directory, server, sealed));
    RATCHET_TRY(GiveBackUnusedSpace(**directory, sealed, check_));
  }
  RATCHET_ASSIGN(const DirectoryPtr target, EnsurePath(*archive_, fmt::format("{}/{}", epoch, kWalsFolder)));
  RATCHET_TRY(check_());
  return MoveDirectory(*wals_, SplittingName(server), *target, SplittingName(server));
}

// After the fence, a registering server is refused (S58: server name proven by storage) or finds the fence at its
// CHECK. So logs without entries now never have an acknowledged write.
Status PosixClusterFiles::RetireUnregistered(const ServerName& server, Epoch epoch,
                                             const std::function<bool()>& is_known) {
  if (const Status fenced = FenceLogsNow(server); !fenced.ok())
    return fenced.error().code() == Code::kNotFound ? Ok() : fenced;  // gone since it was listed
  if (is_known()) return Error(Code::kAborted, server.ToString() + " has registered meanwhile");
  RATCHET_ASSIGN(const std::vector<SealedLog> sealed, SealLogsNow(server));
  for (const SealedLog& log : sealed) {
    const bool empty = log.length <= io::kLogHeaderSize && !log.missing;
    if (empty || RATCHET_MUTANT("files.retire_entries")) continue;
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} of {} {}", log.name, server.ToString(), log.missing ? "is missing" : "has entries"));
  }
  return RetireLogs(server, {}, epoch);
}

}  // namespace ratchet::master
