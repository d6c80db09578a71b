// The cells of a region that are durable in the log but not yet in a store file.
//
// Owner: the region; cursors keep it alive. Threads: one writer at a time, any number of readers at the same time.
// Cells are never changed or removed, so a cursor may stand where it is while others are added; what a reader must not
// see yet it tells by the sequence (S24).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/memstore_budget.h"

namespace ratchet::regionserver {

class Memstore : public std::enable_shared_from_this<Memstore> {
 public:
  // `budget`: the server's, in which this memstore counts itself for as long as anything keeps it alive; null: none.
  explicit Memstore(KeyOrder order, std::shared_ptr<MemstoreBudget> budget = nullptr)
      : cells_(order), budget_(std::move(budget)) {}
  ~Memstore();
  Memstore(const Memstore&) = delete;
  Memstore& operator=(const Memstore&) = delete;

  // A cell with this very key is replaced (two values for one column in one mutation: the later one counts).
  void Add(const CellView& cell, std::uint64_t sequence, std::int64_t ttl_ms);
  [[nodiscard]] std::unique_ptr<CellCursor> NewCursor() const;
  // Estimate of the memory used.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const { return bytes() == 0; }

 private:
  friend class MemstoreCursor;
  using Cells = std::map<std::string, std::string, KeyOrder>;
  mutable SharedMutex mutex_;
  Cells cells_ GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> bytes_{0};
  const std::shared_ptr<MemstoreBudget> budget_;
};

}  // namespace ratchet::regionserver
