// Locks on rows, and the writes of each row that are in the log's queue.
//
// A row is locked from the evaluation of a mutation until the mutation is in the log's queue. The next mutation of the
// row is then evaluated on the queued write before it is synced, and shares its fate (S126: same fate as its source).
// Locks are not bound to a thread. All callers lock several rows in the same order, which prevents deadlock.
//
// Owner: Admission. Thread-safe, except StagedRow, which belongs to the holder of the row's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "regionserver/region/pending_cells.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// An entry on its way through the log. Its sequence is set before the locks of its rows are released.
struct StagedWrite {
  LogEntry entry;
  std::atomic<bool> settled{false};  // it is readable, or was refused
};

// The part of a write that one unit made. It may have cells of other rows too.
struct StagedPart {
  std::shared_ptr<const StagedWrite> write;
  std::size_t first_cell = 0;
  std::size_t end_cell = 0;
  std::size_t first_nonce = 0;
  std::size_t end_nonce = 0;
};

// The writes of one row that are in the log's queue, oldest first. Settled ones stay until Prune.
class StagedRow {
 public:
  explicit StagedRow(KeyOrder order) : cells_(order) {}

  void Add(StagedPart part) { parts_.push_back({std::move(part), {}}); }
  // Forgets settled writes. A view that is acquired after this call shows those that succeeded.
  void Prune();
  // Returns the sequence of the oldest write; 0: none.
  [[nodiscard]] std::uint64_t first_sequence() const;
  [[nodiscard]] bool HasNonce(std::uint64_t group, std::uint64_t value) const;
  // Returns the cells of `row`; valid until the next call of Add or Prune.
  [[nodiscard]] const PendingCells& Cells(const std::string& row);

 private:
  struct Part {
    StagedPart made;
    std::vector<PendingCells::Place> places;  // of its cells, once they are in cells_
  };
  std::vector<Part> parts_;
  std::size_t encoded_ = 0;  // parts whose cells are in cells_
  PendingCells cells_;
};

class RowLocks : public std::enable_shared_from_this<RowLocks> {
  struct Row {
    explicit Row(KeyOrder order) : staged(order) {}
    bool locked = false;
    std::size_t users = 0;    // holders, and writes in the log's queue
    std::size_t waiting = 0;  // threads that wait for the lock
    CondVar free;
    StagedRow staged;
  };
  using Rows = std::unordered_map<std::string, Row>;  // elements do not move

 public:
  // More writes of one row wait for the log before the row is free again.
  static constexpr std::size_t kMostStaged = 1'000;

  // Locked rows. Releases all when destroyed, on any thread.
  class Held {
   public:
    // `rows` are in order, each with one use.
    Held(std::shared_ptr<RowLocks> locks, std::vector<Rows::value_type*> rows)
        : locks_(std::move(locks)), rows_(std::move(rows)) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    // Returns null for a row that is not locked. The result may be used until Unlock.
    [[nodiscard]] StagedRow* Staged(const std::string& row);
    // Releases the locks. The rows keep their staged writes until Settle.
    void Unlock();
    // The write that was made under these locks is readable, or was refused.
    void Settle();

   private:
    const std::shared_ptr<RowLocks> locks_;
    const std::vector<Rows::value_type*> rows_;
    bool locked_ = true;    // guarded by the mutex of locks_
    bool settled_ = false;  // likewise
  };

  explicit RowLocks(KeyOrder order) : order_(order) {}

  // Waits up to `wait` for all of them. kResourceExhausted (RegionTooBusyException) when that was not enough; kAborted
  // after Abandon.
  [[nodiscard]] Result<std::shared_ptr<Held>> Acquire(const std::set<std::string>& rows, Millis wait);
  // Wakes all waiters; after this no caller gets a lock.
  void Abandon();
  // Number of rows that are locked or have staged writes.
  [[nodiscard]] std::size_t size() const;

 private:
  [[nodiscard]] Status Wait(Row& row, TimePoint deadline, Millis wait) REQUIRES(mutex_);
  void Unlock(Row& row) REQUIRES(mutex_);
  // Ends one use of the row, and forgets the row if that was the last one.
  void EndUse(Rows::value_type& row) REQUIRES(mutex_);
  void ForgetIfIdle(const Rows::value_type& row) REQUIRES(mutex_);

  const KeyOrder order_;
  mutable Mutex mutex_;
  Rows rows_ GUARDED_BY(mutex_);
  bool abandoned_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::regionserver
