// Stores and finds ended procedures and failovers in <root>/history (history_files.h).
//
// Adding never delays a step: entries wait in a bounded queue for a separate thread, which writes them at once and
// syncs once a second. So a killed master may lose the queue, and a power failure the last second. The next master adds
// the lost entries of procedures whose results the procedure store still has.
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
  Live<std::uint64_t> bytes{64U << 20};  // on disk; 0: no history
  Live<Millis> age{Millis{7 * 86'400'000LL}};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes({"history-bytes",
                       "Maximum size of the files below <root>/history, which store ended procedures; the oldest files "
                       "are removed. 0: no history.",
                       {}},
                      &bytes, 0, 1ull << 40);
    settings.AddMillis({"history-age-ms", "Maximum age of history files.", {}}, &age, Millis(1'000),
                       Millis(10LL * 365 * 86'400'000));
  }
};

struct HistoryStats {
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;
  std::uint64_t written = 0;  // number of entries that this master wrote
  std::uint64_t lost = 0;     // number of entries that this master lost: the queue was full, or the disk refused them
};

class HistoryBook {
 public:
  // `check`: the epoch CHECK, before a file is removed. `clock` outlives the book. The constructor reads no files.
  HistoryBook(std::unique_ptr<io::Directory> directory, Epoch epoch, const Clock& clock, HistoryLimits limits,
              std::function<Status()> check);
  ~HistoryBook();  // Stop
  HistoryBook(const HistoryBook&) = delete;
  HistoryBook& operator=(const HistoryBook&) = delete;

  // Starts the thread: it reads the existing entries, calls `finished` once, and adds the missing ones of its result.
  void Start(std::function<std::vector<::ratchet::pb::EndedProcedure>()> finished);
  // Writes and syncs the queue, if the disk allows it.
  void Stop();

  // Does not block; call from any thread, also before Start and while a disk hangs. If the queue is full, the entry is
  // lost and counted.
  void Add(::ratchet::pb::EndedProcedure ended);
  void Add(::ratchet::pb::Failover failover);

  // kUnavailable: the initial read has not ended. Reads files, so threads that must not block cannot call it.
  [[nodiscard]] Result<::ratchet::pb::ListHistoryResponse> List(const ::ratchet::pb::ListHistoryRequest& request);
  [[nodiscard]] HistoryStats stats() const;

  static constexpr std::size_t kMostQueued = 20'000;            // entries
  static constexpr std::uint64_t kMostQueuedBytes = 32U << 20;  // bytes of queued entries
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

  mutable Mutex files_mutex_;  // locked before mutex_
  HistoryFiles files_ GUARDED_BY(files_mutex_);
  const HistoryFiles& reader_{files_};             // for its thread-safe methods
  TimePoint retry_at_ GUARDED_BY(files_mutex_){};  // set after a disk error

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
