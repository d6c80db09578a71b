// The cells of a region that are durable in the log but not yet in a store file.
//
// Owner: the region; cursors keep it alive. Threads: one writer at a time, any number of readers at the same time.
// Cells are never changed or removed, so a cursor keeps its position while others are added; a reader skips cells above
// its read point (S24: visible after sync).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {

// The memory limit of all memstores of a server together.
//
// Memstores add and subtract their sizes; regions check before they admit a write. Above `flush_at` the largest region
// is flushed; above `limit` writes are refused as too busy until flushes have freed memory. hbase:meta is never
// refused.
//
// Owner: shared by the server's regions. Thread-safe.
struct MemstoreBudget {
  Live<std::uint64_t> limit{UINT64_MAX};     // bytes
  Live<std::uint64_t> flush_at{UINT64_MAX};  // below `limit`
  std::function<void()>
      make_room;  // called on each admission above `flush_at`; must be quick. Set before the first region
  std::atomic<std::uint64_t> used{0};
};

class Memstore : public std::enable_shared_from_this<Memstore> {
 public:
  // `budget` is the server's, which counts this memstore as long as it exists; null: no budget.
  explicit Memstore(KeyOrder order, std::shared_ptr<MemstoreBudget> budget = nullptr)
      : cells_(order), budget_(std::move(budget)) {}
  ~Memstore();
  Memstore(const Memstore&) = delete;
  Memstore& operator=(const Memstore&) = delete;

  // Replaces a cell with the same key (for two values of one column in one mutation, the later one wins).
  void Add(const CellView& cell, std::uint64_t sequence, std::optional<std::int64_t> ttl_ms);
  [[nodiscard]] std::unique_ptr<CellCursor> NewCursor() const;
  // Returns an estimate of the memory used.
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
