#include "master/history/history_book.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::master {
namespace {

constexpr Millis kSyncPeriod{1'000};
constexpr Millis kRetryPeriod{10'000};  // after a disk error

// Reads entries from the newest on, while `take` returns true.
template <class Take>
void VisitBackwards(const HistoryFiles& files, const std::vector<HistorySegment>& segments, const HistoryFilter& filter,
                    std::vector<std::string>* problems, Take take) {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (segment->last_ms != 0 && !filter.MayMatch(segment->first_ms, segment->last_ms)) continue;
    std::vector<::ratchet::pb::HistoryRecord> records;
    const auto read = files.Read(segment->name, [&](std::string_view payload) {
      ::ratchet::pb::HistoryRecord record;
      // a record of a newer version
      if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
      if (record.has_procedure() ? filter.Matches(record.procedure()) : filter.Matches(record.failover()))
        records.push_back(std::move(record));
    });
    if (!read.ok() && read.error().code() == Code::kNotFound) continue;  // removed meanwhile because of its age
    const std::string problem = read.ok() ? *read : read.error().ToString();
    if (!problem.empty() && problems != nullptr) problems->push_back(problem);
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      if (!take(*record)) return;
    }
  }
}

}  // namespace

HistoryBook::HistoryBook(std::unique_ptr<io::Directory> directory, Epoch epoch, const Clock& clock,
                         HistoryLimits limits, std::function<Status()> check)
    : clock_(clock), limits_(std::move(limits)), check_(std::move(check)), files_(std::move(directory), epoch) {}

HistoryBook::~HistoryBook() { Stop(); }

void HistoryBook::Start(std::function<std::vector<::ratchet::pb::EndedProcedure>()> finished) {
  finished_ = std::move(finished);
  thread_ = std::thread([this] { Run(); });
}

void HistoryBook::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void HistoryBook::Add(::ratchet::pb::EndedProcedure ended) {
  const std::int64_t at_ms = EndedAtMs(ended);
  ::ratchet::pb::HistoryRecord record;
  *record.mutable_procedure() = std::move(ended);
  Put(at_ms, record);
}

void HistoryBook::Add(::ratchet::pb::Failover failover) {
  const std::int64_t at_ms = failover.elected_wall_ms();
  ::ratchet::pb::HistoryRecord record;
  *record.mutable_failover() = std::move(failover);
  Put(at_ms, record);
}

void HistoryBook::Put(std::int64_t at_ms, const ::ratchet::pb::HistoryRecord& record) {
  if (limits_.bytes == 0) return;
  Entry entry{at_ms, record.SerializeAsString()};
  const MutexLock lock(mutex_);
  if (queue_.size() >= kMostQueued || queued_bytes_ + entry.payload.size() > kMostQueuedBytes) {
    ++stats_.lost;
    if (!std::exchange(full_said_, true))
      RATCHET_LOG(kWarn, "history: queue full with {} entries, because the disk is slow; new entries are lost",
                  queue_.size());
    return;
  }
  queued_bytes_ += entry.payload.size();
  queue_.push_back(std::move(entry));
  if (queue_.size() == 1) changed_.NotifyAll();
}

void HistoryBook::WriteQueued() {
  if (retry_at_ != TimePoint{} && clock_.Now() < retry_at_) return;
  std::deque<Entry> entries;
  {
    const MutexLock lock(mutex_);
    entries.swap(queue_);
    queued_bytes_ = 0;
    full_said_ = false;
  }
  if (entries.empty()) return;
  std::uint64_t written = 0;
  Status done = files_.CheckRoom();
  for (const Entry& entry : entries) {
    if (done.ok()) done = files_.Append(entry.at_ms, entry.payload);
    if (!done.ok()) break;
    ++written;
  }
  if (done.ok()) done = files_.Flush();
  retry_at_ = done.ok() ? TimePoint{} : clock_.Now() + kRetryPeriod;
  const MutexLock lock(mutex_);
  stats_.written += done.ok() ? written : 0;
  stats_.bytes = files_.bytes();
  stats_.segments = files_.segments().size();
  if (done.ok()) return;
  stats_.lost += entries.size();
  RATCHET_LOG(kWarn, "history: cannot write {} entries: {}", entries.size(), done.error().ToString());
}

void HistoryBook::Open() {
  std::set<std::uint64_t> known;  // roots
  {
    const MutexLock files(files_mutex_);
    const Status opened = files_.Open([&known](std::string_view payload) {
      ::ratchet::pb::HistoryRecord record;
      if (record.ParseFromArray(payload.data(), static_cast<int>(payload.size())) && record.has_procedure() &&
          !record.procedure().procedure().has_parent())
        known.insert(record.procedure().procedure().pid());
    });
    if (!opened.ok()) RATCHET_LOG(kWarn, "history: {}", opened.error().ToString());
    for (const HistorySegment& segment : files_.segments()) {
      if (!segment.problem.empty()) RATCHET_LOG(kWarn, "history: {}", segment.problem);
    }
    const MutexLock lock(mutex_);
    stats_.bytes = files_.bytes();
    stats_.segments = files_.segments().size();
    opened_ = true;
  }
  std::size_t added = 0;
  for (::ratchet::pb::EndedProcedure& ended : finished_()) {
    if (ended.procedure().has_parent() || known.contains(ended.procedure().pid())) continue;
    Add(std::move(ended));
    ++added;
  }
  if (added > 0) RATCHET_LOG(kInfo, "history: added {} procedures that ended under an earlier master", added);
}

void HistoryBook::Forget() {
  const MutexLock files(files_mutex_);
  const std::int64_t oldest = clock_.WallMillis() - limits_.age.Get().count();
  const auto removed = files_.Trim(limits_.bytes, oldest, check_);
  if (!removed.ok()) RATCHET_LOG(kWarn, "history: cannot remove an old file: {}", removed.error().ToString());
  if (removed.ok() && *removed > 0) RATCHET_LOG(kInfo, "history: removed {} old files", *removed);
  const MutexLock lock(mutex_);
  stats_.bytes = files_.bytes();
  stats_.segments = files_.segments().size();
}

void HistoryBook::Run() {
  SetThreadName("history");
  Open();
  std::uint64_t segments = 0;
  TimePoint look_at{};
  while (true) {
    bool last = false;
    {
      const MutexLock lock(mutex_);
      if (queue_.empty() && !stopping_) changed_.WaitFor(mutex_, 60 * kSyncPeriod);
      if (!queue_.empty() && !stopping_) changed_.WaitFor(mutex_, kSyncPeriod);  // gathers entries for one sync
      last = stopping_;
    }
    {
      const MutexLock files(files_mutex_);
      WriteQueued();
      const Status synced = files_.Sync();
      if (!synced.ok()) RATCHET_LOG(kWarn, "history: the last entries may be lost: {}", synced.error().ToString());
    }
    if (last) return;
    const TimePoint now = clock_.Now();
    if (stats().segments != segments || now >= look_at) {
      Forget();
      segments = stats().segments;
      look_at = now + 60 * kSyncPeriod;
    }
  }
}

HistoryStats HistoryBook::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

std::vector<HistorySegment> HistoryBook::Segments() {
  const MutexLock files(files_mutex_);
  WriteQueued();
  return files_.segments();
}

std::uint64_t HistoryBook::RootOf(const std::vector<HistorySegment>& segments, std::uint64_t pid) const {
  std::uint64_t root = pid;  // the root may be unfinished although its children have ended
  VisitBackwards(reader_, segments, HistoryFilter(), nullptr, [&](const ::ratchet::pb::HistoryRecord& record) {
    if (!record.has_procedure() || record.procedure().procedure().pid() != pid) return true;
    root = record.procedure().root();
    return false;
  });
  return root;
}

Result<::ratchet::pb::ListHistoryResponse> HistoryBook::List(const ::ratchet::pb::ListHistoryRequest& request) {
  RATCHET_ASSIGN(HistoryFilter filter, HistoryFilter::Of(request));
  {
    const MutexLock lock(mutex_);
    if (!opened_) return Error(Code::kUnavailable, "the history is still being read; retry in a moment");
  }
  const std::vector<HistorySegment> segments = Segments();
  if (request.has_tree_of()) filter.OnlyTree(RootOf(segments, request.tree_of()));
  ::ratchet::pb::ListHistoryResponse response;
  const std::uint32_t limit = std::min(request.limit(), kMostListed);
  std::uint64_t bytes = 0;
  std::vector<std::string> problems;
  VisitBackwards(reader_, segments, filter, &problems, [&](::ratchet::pb::HistoryRecord& record) {
    if (record.has_failover()) {
      if (request.failovers()) *response.add_failover() = std::move(*record.mutable_failover());
      return true;
    }
    if (static_cast<std::uint32_t>(response.procedure_size()) >= limit || bytes > kMostAnswerBytes) {
      response.set_more(true);
      return request.failovers() && bytes <= kMostAnswerBytes;
    }
    if (!request.steps()) record.mutable_procedure()->mutable_procedure()->clear_history();
    bytes += record.procedure().ByteSizeLong();
    *response.add_procedure() = std::move(*record.mutable_procedure());
    return true;
  });
  for (std::string& problem : problems) response.add_problem(std::move(problem));
  const HistoryStats now = stats();
  response.set_bytes(now.bytes);
  response.set_entries_lost(now.lost);
  return response;
}

}  // namespace ratchet::master
