// The cells of a region that are durable in the log but not yet in a store file.
//
// Owner: the region; cursors keep it alive. Threads: one writer at a time, any number of readers at the same time.
// Cells are never changed or removed, so a cursor keeps its position while others are added; a reader skips cells above
// its read point (S24: visible after sync).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/cell_tree.h"

namespace ratchet::regionserver {

// The memory limit of all memstores of a server together.
//
// Above FlushAt the largest region is flushed; above `limit` writes are refused as too busy until flushes have freed
// memory. hbase:meta is never refused.
struct MemstoreLimits {
  Live<std::uint64_t> limit{512U << 20};  // bytes
  Live<std::uint64_t> flush_at{0};        // below `limit`; 0: nine tenths of it

  [[nodiscard]] std::uint64_t FlushAt() const {
    const std::uint64_t own = flush_at;
    return own == 0 ? limit.Get() / 10 * 9 : own;
  }

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes(
        {"memstore-total-bytes",
         "Total size of all memory stores above which writes are refused as too busy. Flushes begin at nine "
         "tenths of it.",
         {}},
        &limit, 65536, 1ull << 40);
  }
};

// The use of that limit: memstores add and subtract their sizes, and regions check before they admit a write.
//
// Owner: shared by the server's regions. Thread-safe.
struct MemstoreBudget : MemstoreLimits {
  explicit MemstoreBudget(MemstoreLimits limits = {.limit = UINT64_MAX}) : MemstoreLimits(std::move(limits)) {}

  // Called on each admission above FlushAt; must be quick. Set before the first region.
  std::function<void()> make_room;
  std::atomic<std::uint64_t> used{0};
};

// Memory for many small objects that are freed together. A chunk is at most 256 KiB, so little is allocated in advance;
// a larger object has a chunk of its own.
class CellArena final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t next_chunk_ = 512;
  char* at_ = nullptr;  // the free rest of the newest chunk of small objects
  std::size_t left_ = 0;
};

class Memstore : public std::enable_shared_from_this<Memstore> {
 public:
  // `budget` is the server's, which counts this memstore as long as it exists; null: no budget.
  explicit Memstore(KeyOrder order, std::shared_ptr<MemstoreBudget> budget = nullptr)
      : cells_(order, arena_), budget_(std::move(budget)) {}
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

  mutable SharedMutex mutex_;
  // Nodes and bytes of all cells. The cells of one time are next to each other, and all are freed together.
  CellArena arena_ GUARDED_BY(mutex_);
  CellTree cells_ GUARDED_BY(mutex_);
  std::string cell_ GUARDED_BY(mutex_);  // for Add
  std::atomic<std::uint64_t> bytes_{0};
  const std::shared_ptr<MemstoreBudget> budget_;
};

}  // namespace ratchet::regionserver
