#include "regionserver/host/wal_keeper.h"

#include <optional>
#include <utility>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "regionserver/host/orphan_edits.h"

namespace ratchet::regionserver {
namespace {

// Number of regions that one pass examines for each log file; the next pass is within a second.
constexpr std::size_t kRegionsALook = 256;

}  // namespace

Status WalKeeper::UseDirectory(io::FencedDirectory& directory) {
  directory_ = &directory;
  RATCHET_ASSIGN(auto log, MakeLog("log"));
  MutexLock lock(mutex_);
  log_ = std::move(log);
  return Ok();
}

Result<std::unique_ptr<ServerLog>> WalKeeper::MakeLog(const std::string& prefix) {
  ServerLogOptions options;
  options.prefix = prefix;
  options.roll_bytes = options_.roll_bytes;
  options.prepare_next = options_.prepare_next;
  options.fenced = [this](const Error& error) { die_(exit_code::kFenced, error.ToString()); };
  options.unsure = [this](const Error& error) { die_(exit_code::kOwnerUnknown, error.ToString()); };
  return ServerLog::Open(*directory_, std::move(options));
}

Status WalKeeper::CheckFence() const {
  if (directory_ == nullptr) return Error(Code::kUnavailable, "the log directory does not exist yet");
  return directory_->Check();
}

Result<ServerLog*> WalKeeper::LogFor(bool meta) {
  if (!meta) {
    MutexLock lock(mutex_);
    return log_.get();
  }
  MutexLock making(making_log_);
  {
    MutexLock lock(mutex_);
    if (meta_log_ != nullptr) return meta_log_.get();
  }
  RATCHET_ASSIGN(std::unique_ptr<ServerLog> made, MakeLog("meta"));
  MutexLock lock(mutex_);
  meta_log_ = std::move(made);
  return meta_log_.get();
}

std::vector<ServerLog*> WalKeeper::Logs() const {
  std::vector<ServerLog*> logs;
  MutexLock lock(mutex_);
  for (ServerLog* log : {log_.get(), meta_log_.get()})
    if (log != nullptr) logs.push_back(log);
  return logs;
}

ServerLog::Metrics WalKeeper::GetMetrics() const {
  ServerLog::Metrics sum;
  for (const ServerLog* log : Logs()) {
    const ServerLog::Metrics one = log->GetMetrics();
    sum.entries += one.entries;
    sum.bytes += one.bytes;
    sum.syncs += one.syncs;
    sum.rolls += one.rolls;
    sum.sync_time.sum_us += one.sync_time.sum_us;
    for (std::size_t i = 0; i < one.sync_time.counts.size(); ++i) sum.sync_time.counts[i] += one.sync_time.counts[i];
  }
  return sum;
}

std::size_t WalKeeper::FileCount() const {
  std::size_t files = 0;
  for (const ServerLog* log : Logs()) files += log->Files(0).size();
  return files;
}

std::vector<ServerLog::FileInfo> WalKeeper::Files() const {
  const ServerLog* log = nullptr;
  {
    MutexLock lock(mutex_);
    log = log_.get();
  }
  return log == nullptr ? std::vector<ServerLog::FileInfo>() : log->Files(0);
}

// A lost opening must not flush; a crash procedure recovers its entries.
std::vector<std::string> WalKeeper::RegionsToFlush(const ServerLog& log) const {
  std::size_t needed = 0;
  std::vector<std::string> oldest;  // regions with entries in the oldest needed file
  std::optional<std::vector<ServerLog::FileInfo>> whole;
  const auto files = log.Files(kRegionsALook);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<std::string> owing = regions_.OpenOnes(files[i].owed, kRegionsALook);
    if (owing.empty() && files[i].owed_count > files[i].owed.size()) {  // all listed regions are lost: rare
      if (!whole) whole = log.Files();
      if (i < whole->size() && (*whole)[i].number == files[i].number)
        owing = regions_.OpenOnes((*whole)[i].owed, kRegionsALook);
    }
    if (!owing.empty() && ++needed == 1) oldest = std::move(owing);
  }
  if (needed <= static_cast<std::size_t>(options_.most_files.Get())) return {};
  return oldest;
}

void WalKeeper::LookAfterLogs() {
  const std::vector<ServerLog::FileInfo> own = Files();
  if (!own.empty()) RemoveFlushedMarks(own.front().number);
  for (ServerLog* log : Logs()) {
    log->MarkCovered();
    for (const std::string& region : RegionsToFlush(*log)) flusher_.Soon(region);
  }
}

// Does not sync: if a crash removes the mark, that costs space in quarantine, but no data.
void WalKeeper::MarkFlushed(const std::string& encoded_name, std::uint64_t sequence) {
  const std::vector<ServerLog::FileInfo> files = Files();
  if (files.empty() || directory_ == nullptr) return;
  const std::string mark = FlushedMark(encoded_name, sequence);
  const auto made = directory_->directory().Create(mark);
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) {
    RATCHET_LOG(kWarn, "region {}: cannot mark its close in the log directory: {}", encoded_name,
                made.error().ToString());
    return;
  }
  std::string previous;
  {
    const MutexLock lock(mutex_);
    FlushedRegion& flushed = flushed_[encoded_name];
    previous = std::exchange(flushed.mark, mark);
    flushed.log = files.back().number;
  }
  if (!previous.empty() && previous != mark)
    IgnoreResult(directory_->directory().Unlink(previous), "the mark with the higher sequence counts");
}

void WalKeeper::RemoveFlushedMarks(std::uint64_t first_log) {
  std::vector<std::string> marks;
  {
    const MutexLock lock(mutex_);
    std::erase_if(flushed_, [&](const auto& entry) {
      const bool gone = entry.second.log < first_log;
      if (gone) marks.push_back(entry.second.mark);
      return gone;
    });
  }
  for (const std::string& mark : marks)
    IgnoreResult(directory_->directory().Unlink(mark), "its logs are covered, so nothing reads it");
}

void WalKeeper::KeepFrom(std::uint64_t number) {
  MutexLock lock(mutex_);
  if (log_ != nullptr) log_->KeepFrom(number);
}

Status WalKeeper::Roll() {
  for (ServerLog* log : Logs()) RATCHET_TRY(log->Roll());
  return Ok();
}

void WalKeeper::Stop() {
  for (ServerLog* log : Logs()) log->Stop();
}

}  // namespace ratchet::regionserver
