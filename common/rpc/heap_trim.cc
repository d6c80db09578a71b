#include "common/rpc/heap_trim.h"

#include <malloc.h>

#include <utility>

namespace ratchet::rpc {

void BoundFreedMemory() {
  constexpr int kMappedAbove = 4 << 20;  // bytes; a larger piece returns to the system when it is freed
  constexpr int kKept = 8 << 20;         // kept at the end of each arena
  static const bool kSet = [] {
    ::mallopt(M_MMAP_THRESHOLD, kMappedAbove);
    ::mallopt(M_TRIM_THRESHOLD, kKept);
    return true;
  }();
  static_cast<void>(kSet);
}

HeapTrim::~HeapTrim() {
  std::unique_ptr<ThreadPool> thread;  // ends without the lock
  MutexLock lock(mutex_);
  stopped_ = true;
  thread = std::move(thread_);
}

void HeapTrim::EndBurst(std::size_t most, std::size_t left) {
  if (!most_.compare_exchange_strong(most, left)) return;  // another call has noticed the end
  MutexLock lock(mutex_);
  if (stopped_) return;
  const ThreadPool::Options options{.name = "heap-trim", .max_queued = 1, .numbered = false};
  if (thread_ == nullptr) thread_ = std::make_unique<ThreadPool>(options);
  const auto trim = [this] {
    ::malloc_trim(0);
    trims_.fetch_add(1);
  };
  static_cast<void>(thread_->Submit({trim}));  // false if a trim is queued already
}

}  // namespace ratchet::rpc
