// Returns memory to the system after a burst of requests: otherwise the allocator keeps freed memory. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "common/base/mutex.h"
#include "common/base/thread_pool.h"

namespace ratchet::rpc {

// Bounds the freed memory that the allocator keeps for each thread. By default it adapts to the largest piece that was
// freed, and then keeps up to 64 MiB for each of 16 arenas, which trimming does not return. Process-wide, once; later
// calls do nothing. Thread-safe.
void BoundFreedMemory();

// Tracks how many bytes the calls of a server hold. When a burst has ended, so that they hold less than a quarter of
// their maximum, a thread trims the heap once. The thread begins with the first burst. Thread-safe.
class HeapTrim {
 public:
  HeapTrim() = default;
  ~HeapTrim();
  HeapTrim(const HeapTrim&) = delete;
  HeapTrim& operator=(const HeapTrim&) = delete;

  void Held(std::size_t bytes) {
    std::size_t most = most_.load(std::memory_order_relaxed);
    while (bytes > most && !most_.compare_exchange_weak(most, bytes, std::memory_order_relaxed)) {
    }
  }
  // Call after the memory was freed.
  void Released(std::size_t left) {
    const std::size_t most = most_.load(std::memory_order_relaxed);
    if (most >= kBurst && left < most / 4) EndBurst(most, left);
  }
  [[nodiscard]] std::size_t trims() const { return trims_.load(); }

 private:
  static constexpr std::size_t kBurst = 64u << 20;
  void EndBurst(std::size_t most, std::size_t left);

  std::atomic<std::size_t> most_{0}, trims_{0};
  Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::unique_ptr<ThreadPool> thread_ GUARDED_BY(mutex_);  // of one thread
};

}  // namespace ratchet::rpc
