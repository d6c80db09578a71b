// What a master keeps of ended procedures and of failovers, and finds again: <root>/history (history_files.h).
//
// Adding costs no step any time: entries wait in a bounded queue for a thread of their own, which writes them at once
// and syncs once a second. So a master that is killed may lose what was in the queue, and a machine that loses power
// the last second. Of these the next master adds what the procedure store still knows: every root whose result is still
// kept.
//
// Owner: the active master. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/proto/history.pb.h"
#include "master/history/history_files.h"
#include "master/history/history_filter.h"

namespace ratchet::master {

struct HistoryLimits {
  Live<std::uint64_t> bytes{64U << 20};  // on disk; 0: nothing is kept
  Live<Millis> age{Millis{7 * 86'400'000LL}};
};

struct HistoryStats {
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;
  std::uint64_t written = 0;  // entries, by this master
  std::uint64_t lost = 0;     // by this master: the queue was full, or the disk refused them
};

class HistoryBook {
 public:
  // `check`: the epoch CHECK, before a file is removed. `clock` outlives the book. Nothing is read yet.
  HistoryBook(std::unique_ptr<io::Directory> directory, Epoch epoch, const Clock& clock, HistoryLimits limits,
              std::function<Status()> check);
  ~HistoryBook();  // Stop
  HistoryBook(const HistoryBook&) = delete;
  HistoryBook& operator=(const HistoryBook&) = delete;

  // The thread begins: it reads what is there, and adds of `finished` (asked for once, by that thread) what is not.
  void Start(std::function<std::vector<::ratchet::pb::EndedProcedure>()> finished);
  // What waits is written and synced, if the disk lets it.
  void Stop();

  // Quick; from any thread, also before Start and while a disk hangs. Full: the entry is lost, and counted.
  void Add(::ratchet::pb::EndedProcedure ended);
  void Add(::ratchet::pb::Failover failover);

  // kUnavailable: what is there is still being read. Reads files: not for threads that must be quick.
  [[nodiscard]] Result<::ratchet::pb::ListHistoryResponse> List(const ::ratchet::pb::ListHistoryRequest& request);
  [[nodiscard]] HistoryStats stats() const;

  static constexpr std::size_t kMostQueued = 20'000;            // entries
  static constexpr std::uint64_t kMostQueuedBytes = 32U << 20;  // of them
  static constexpr std::uint32_t kMostListed = 100'000;         // entries of one answer
  static constexpr std::uint64_t kMostAnswerBytes = 48U << 20;

 private:
  struct Entry {
    std::int64_t at_ms = 0;
    std::string payload;
  };
  void Put(std::int64_t at_ms, const ::ratchet::pb::HistoryRecord& record);
  void Run();
  void Open();
  void WriteQueued() REQUIRES(files_mutex_);
  void Forget();
  std::vector<HistorySegment> Segments() EXCLUDES(files_mutex_);
  [[nodiscard]] std::uint64_t RootOf(const std::vector<HistorySegment>& segments, std::uint64_t pid) const;

  const Clock& clock_;
  const HistoryLimits limits_;
  const std::function<Status()> check_;
  std::function<std::vector<::ratchet::pb::EndedProcedure>()> finished_;

  mutable Mutex files_mutex_;  // before mutex_
  HistoryFiles files_ GUARDED_BY(files_mutex_);
  const HistoryFiles& reader_{files_};             // for what of it is thread-safe
  TimePoint retry_at_ GUARDED_BY(files_mutex_){};  // the disk has refused something

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Entry> queue_ GUARDED_BY(mutex_);
  std::uint64_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool opened_ GUARDED_BY(mutex_) = false;
  bool full_said_ GUARDED_BY(mutex_) = false;
  HistoryStats stats_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ratchet::master
