// The part of PosixClusterFiles that fences a dead server, seals its logs, and retires them: <root>/wals/<server>/.
#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/storage/directory_tools.h"
#include "master/storage/log_seal.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {
namespace {

std::string SplittingName(const ServerName& server) { return server.ToString() + io::kSplittingSuffix; }

}  // namespace

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
  const auto drop = [answer] { (*answer)(Error(Code::kAborted, "the master is stopping")); };
  static_cast<void>(sealers_.Submit({[this, server, answer] { (*answer)(FenceLogsNow(server)); }, drop, urgent}));
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
  const auto drop = [answer] { (*answer)(Error(Code::kAborted, "the master is stopping")); };
  const auto run = [this, server, owner, answer] { (*answer)(SealLogsNow(server, owner)); };
  static_cast<void>(sealers_.Submit({run, drop, owner.carried_meta}));
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
