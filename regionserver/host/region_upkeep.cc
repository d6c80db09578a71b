// The part of RegionHost for background work on regions and for splits of dead servers' logs.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/io/unneeded_files.h"
#include "regionserver/host/orphan_edits.h"
#include "regionserver/host/region_host.h"
#include "regionserver/host/region_search.h"
#include "regionserver/host/side_by_side.h"
#include "regionserver/wal/log_splitter.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {

namespace {

// Number of threads that publish one log's recovered edits, so that the disk can combine their syncs.
constexpr std::size_t kPublishThreads = 8;
// Number of regions that one pass examines for each log file; the next pass is within a second.
constexpr std::size_t kRegionsALook = 256;

}  // namespace

// A flush of hbase:meta waits for no other flush, because all other work waits for meta.
Lane RegionHost::FlushLane(const std::string& encoded_name) {
  return encoded_name == kMetaEncodedName ? Lane::kMetaFlush : Lane::kFlush;
}

void RegionHost::FlushSoon(const std::string& encoded_name) {
  {
    MutexLock lock(mutex_);
    if (!flush_waits_.insert(encoded_name).second) return;
  }
  lanes_.Run(FlushLane(encoded_name), [this, encoded_name] {
    {
      MutexLock lock(mutex_);
      flush_waits_.erase(encoded_name);
    }
    auto region = Find(encoded_name);
    if (!region.ok()) return;
    if (Status flushed = (*region)->Flush(); !flushed.ok()) {
      RATCHET_LOG(kWarn, "Flush of region {} failed: {}", encoded_name, flushed.error().ToString());
      return;
    }
    CompactSoon(encoded_name, false);
  });
}

void RegionHost::FlushLargest() {
  if (making_room_.exchange(true)) return;
  lanes_.Run(Lane::kFlush, [this] {
    std::shared_ptr<Region> largest;
    std::uint64_t bytes = 0;
    for (const auto& region : All()) {
      const std::uint64_t held = region->info().IsMeta() ? 0 : region->GetStatus().memstore_bytes;
      if (held > bytes) bytes = held, largest = region;
    }
    if (largest != nullptr) {
      RATCHET_LOG(kInfo, "Region {} is flushed to free memory: {} bytes", largest->encoded_name(), bytes);
      if (Status flushed = largest->Flush(); !flushed.ok()) {
        RATCHET_LOG(kWarn, "Flush of region {} failed: {}", largest->encoded_name(), flushed.error().ToString());
      } else {
        CompactSoon(largest->encoded_name(), false);
      }
    }
    making_room_ = false;
  });
}

namespace {

std::string CompactTicket(const std::string& encoded_name, bool major) {
  return encoded_name + (major ? "/major" : "");
}

}  // namespace

bool RegionHost::IsCompacting(const std::string& encoded_name, bool major) const {
  if (put_off_.Has({encoded_name, major})) return true;
  const std::string ticket = CompactTicket(encoded_name, major);
  const MutexLock lock(mutex_);
  return compact_waits_.contains(ticket) || compact_runs_.contains(ticket);
}

void RegionHost::CompactSoon(const std::string& encoded_name, bool major) {
  if (!compactions_on_) return;
  const std::string ticket = CompactTicket(encoded_name, major);
  {
    MutexLock lock(mutex_);
    if (!compact_waits_.insert(ticket).second) return;
  }
  // Major compactions have a lane of their own, so that they do not delay minor ones.
  lanes_.Run(major ? Lane::kLargeCompact : Lane::kSmallCompact, [this, encoded_name, ticket, major] {
    {
      MutexLock lock(mutex_);
      compact_waits_.erase(ticket);
      compact_runs_.insert(ticket);
    }
    if (compactions_on_) CompactNow(encoded_name, major);
    MutexLock lock(mutex_);
    compact_runs_.erase(compact_runs_.find(ticket));
  });
}

void RegionHost::CompactNow(const std::string& encoded_name, bool major) {
  auto region = Find(encoded_name);
  const Status compacted = region.ok() ? (*region)->Compact(major) : Ok();
  if (!compacted.ok() && compacted.error().code() == Code::kNoSpace)
    return put_off_.Add({encoded_name, major}, compacted.error());
  put_off_.Remove({encoded_name, major});
  if (!compacted.ok())
    RATCHET_LOG(kWarn, "Compaction of region {} failed: {}", encoded_name, compacted.error().ToString());
}

bool RegionHost::SwitchCompactions(bool on) {
  const bool before = compactions_on_.exchange(on);
  if (before == on) return before;
  RATCHET_LOG(kInfo, "Compactions are switched {}", on ? "on" : "off");
  if (on)
    for (const auto& region : All()) CompactSoon(region->encoded_name(), false);
  return before;
}

void RegionHost::TryCompactionsAgain() {
  if (!compactions_on_) return;
  for (const auto& compaction : put_off_.Due(clock_.Now())) CompactSoon(compaction.encoded_name, compaction.major);
}

std::vector<ServerLog*> RegionHost::Logs() const {
  std::vector<ServerLog*> logs;
  MutexLock lock(mutex_);
  for (ServerLog* log : {log_.get(), meta_log_.get()})
    if (log != nullptr) logs.push_back(log);
  return logs;
}

ServerLog::Metrics RegionHost::LogMetrics() const {
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

std::size_t RegionHost::LogFiles() const {
  std::size_t files = 0;
  for (const ServerLog* log : Logs()) files += log->Files(0).size();
  return files;
}

void RegionHost::LookAtMarks() {
  if (const auto why = unserved_.Look(All(), clock_.Now())) die_(exit_code::kOwnerUnknown, *why);
}

void RegionHost::LookAtDisk() {
  const auto free = root_.FreeBytes();
  disk_free_.store(free.ok() ? static_cast<std::int64_t>(*free) : kDiskUnknown);
}

void RegionHost::FillStorage(pb::StorageReport& report) const {
  put_off_.Fill(report);
  unserved_.Fill(report);
  report.set_log_files(static_cast<std::uint32_t>(LogFiles()));
  if (const std::int64_t free = disk_free_.load(); free != kDiskUnknown)
    report.set_free_bytes(static_cast<std::uint64_t>(free));
}

void RegionHost::LookAfterLogs() {
  // A lost opening must not flush; a crash procedure recovers its entries.
  const auto open_ones = [this](const std::map<std::string, std::uint64_t>& owed) {
    std::vector<std::string> open;
    MutexLock lock(mutex_);
    for (const auto& [region, sequence] : owed) {
      if (open.size() == kRegionsALook) break;
      if (open_.contains(region)) open.push_back(region);
    }
    return open;
  };
  const std::vector<ServerLog::FileInfo> own = LogFileList();
  if (!own.empty()) RemoveFlushedMarks(own.front().number);
  for (ServerLog* log : Logs()) {
    log->MarkCovered();
    std::size_t needed = 0;
    std::vector<std::string> oldest;  // regions with entries in the oldest needed file
    std::optional<std::vector<ServerLog::FileInfo>> whole;
    const auto files = log->Files(kRegionsALook);
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::vector<std::string> owing = open_ones(files[i].owed);
      if (owing.empty() && files[i].owed_count > files[i].owed.size()) {  // all listed regions are lost: rare
        if (!whole) whole = log->Files();
        if (i < whole->size() && (*whole)[i].number == files[i].number) owing = open_ones((*whole)[i].owed);
      }
      if (!owing.empty() && ++needed == 1) oldest = std::move(owing);
    }
    if (needed <= static_cast<std::size_t>(options_.max_logs.Get())) continue;
    for (const std::string& region : oldest) FlushSoon(region);
  }
}

std::vector<ServerLog::FileInfo> RegionHost::LogFileList() const {
  const ServerLog* log = nullptr;
  {
    MutexLock lock(mutex_);
    log = log_.get();  // never changes once it exists
  }
  return log == nullptr ? std::vector<ServerLog::FileInfo>() : log->Files(0);
}

void RegionHost::KeepLogsFrom(std::uint64_t number) {
  MutexLock lock(mutex_);
  keep_logs_from_ = number;
  if (log_ != nullptr) log_->KeepFrom(number);
}

Status RegionHost::RollLogs() {
  for (ServerLog* log : Logs()) RATCHET_TRY(log->Roll());
  return Ok();
}

void RegionHost::FlushAll(TimePoint deadline) {
  for (const auto& region : All()) {
    if (clock_.Now() >= deadline) {
      RATCHET_LOG(kWarn, "Stop: out of time; the rest is in the log");
      return;
    }
    if (Status flushed = region->Flush(); !flushed.ok()) {
      RATCHET_LOG(kWarn, "Flush of region {} failed: {}", region->encoded_name(), flushed.error().ToString());
    }
  }
}

void RegionHost::StopLogs() {
  for (ServerLog* log : Logs()) log->Stop();
}

OrderAnswer RegionHost::RefreshPeers(const RefreshPeersOrder& order) {
  if (!take_peers_)
    return FailedAnswer(OrderOutcome::kFailed, Error(Code::kUnavailable, "this server does not ship to peers"));
  take_peers_(order.list);
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  return answer;
}

// A region that is not open here was flushed by its close, or will be by its next opening.
OrderAnswer RegionHost::Flush(const FlushOrder& order) {
  const auto region = Find(order.encoded_name);
  if (!region.ok()) return FailedAnswer(OrderOutcome::kFailed, region.error());
  if (const Status flushed = (*region)->Flush(); !flushed.ok()) {
    return FailedAnswer(OrderOutcome::kFailed, flushed.error());
  }
  pb::FlushRegionResult result;
  if (const std::string row = (*region)->SplitRow(); !row.empty()) result.set_split_row(row);
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  answer.payload = result.SerializeAsString();
  return answer;
}

// A compaction that lacks space is not put off: the master asks again, and shows the reason.
OrderAnswer RegionHost::Compact(const CompactOrder& order) {
  const auto region = Find(order.encoded_name);
  if (!region.ok()) return FailedAnswer(OrderOutcome::kFailed, region.error());
  if (!compactions_on_) {
    return FailedAnswer(OrderOutcome::kFailed,
                        Error(Code::kUnavailable, "compactions are switched off at this server (CompactionSwitch)"));
  }
  const std::string ticket = CompactTicket(order.encoded_name, order.major);
  {
    const MutexLock lock(mutex_);
    compact_runs_.insert(ticket);
  }
  const Status compacted = (*region)->Compact(order.major);
  {
    const MutexLock lock(mutex_);
    compact_runs_.erase(compact_runs_.find(ticket));
  }
  if (!compacted.ok()) return FailedAnswer(OrderOutcome::kFailed, compacted.error());
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  return answer;
}

OrderAnswer RegionHost::SplitLog(const SplitLogOrder& order) {
  const TimePoint begun = clock_.Now();
  auto report = RunSplit(order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Split of {} failed: {}", order.pid, order.parameter.wal_path(),
                report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Split {} in {} ms: {}", order.pid, order.parameter.wal_path(),
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(), *report);
  IgnoreResult(HitFault("regionserver.after_split", order.parameter.wal_path()),
               "the log is split, so a fault here has no effect");
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  answer.payload = *report;
  return answer;
}

Result<std::string> RegionHost::RunSplit(const SplitLogOrder& order) const {
  RATCHET_TRY(HitFault("regionserver.before_split", order.parameter.wal_path()));
  // "wals/<server>-splitting/<file>"
  const std::string& path = order.parameter.wal_path();
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string::npos ? first : path.find('/', first + 1);
  if (second == std::string::npos || path.substr(0, first) != "wals") {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a log's path", path));
  }
  const std::string directory_name = path.substr(first + 1, second - first - 1);
  if (!directory_name.ends_with(io::kSplittingSuffix)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not in a fenced directory", path));
  }
  SplitRequest request;
  request.server = directory_name.substr(0, directory_name.size() - std::string_view(io::kSplittingSuffix).size());
  request.file = path.substr(second + 1);
  if (!ServerName::Parse(request.server).ok() || !io::ParseLogFileName(request.file))
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not the path of a server's log", path));
  request.sealed_length = order.parameter.sealed_length();
  request.sealed_crc32c = order.parameter.sealed_crc32c();
  request.sealed_last_sequence = order.parameter.sealed_last_sequence();
  request.attempt_token = RandomSeed();
  std::map<std::string, std::string> directories;
  for (const auto& hint : order.parameter.region()) {
    if (hint.has_flushed_sequence()) request.flushed_sequences[hint.encoded_name()] = hint.flushed_sequence();
    if (hint.has_region_dir()) directories[hint.encoded_name()] = hint.region_dir();
  }
  RegionSearch search(root_);
  request.open_region = [this, &directories,
                         &search](const std::string& name) -> Result<std::unique_ptr<io::Directory>> {
    const auto known = directories.find(name);
    if (known == directories.end()) {
      RATCHET_ASSIGN(const std::string table, search.TableOf(name));
      return RegionDirectory(table, name);
    }
    const std::size_t slash = known->second.rfind('/');
    if (slash == std::string::npos) return Error(Code::kInvalidArgument, "a region's directory lies below its table's");
    const std::string folder = known->second.substr(slash + 1);
    if (!IsDirectoryName(folder))
      return Error(Code::kInvalidArgument, fmt::format("'{}' is not a region's directory", known->second));
    return RegionDirectory(known->second.substr(0, slash), folder);
  };
  request.side_by_side = [](std::size_t count, const std::function<void(std::size_t)>& job) {
    RunSideBySide(kPublishThreads, count, job);
  };
  RATCHET_ASSIGN(auto wals, root_.OpenDir("wals"));
  RATCHET_ASSIGN(auto directory, wals->OpenDir(directory_name));
  MissingRegions missing(root_, *directory);
  request.keep_edits = [&missing](const std::string& name, std::uint64_t last_sequence) {
    return missing.PlaceFor(name, last_sequence);
  };
  RATCHET_ASSIGN(const SplitReport report, regionserver::SplitLog(*directory, request));
  const std::string kept =
      report.kept.empty() ? std::string() : fmt::format(", kept in quarantine/edits={}", fmt::join(report.kept, " "));
  return fmt::format("entries={}, regions={}, dropped={}, covered={}{}{}{}", report.entries, report.regions,
                     report.dropped, report.covered, kept, report.already_done ? ", done before" : "",
                     report.retired ? ", covered and gone" : "");
}

}  // namespace ratchet::regionserver
