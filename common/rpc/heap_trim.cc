#include "common/rpc/heap_trim.h"

#include <malloc.h>

#include <utility>

#include "common/base/thread_name.h"

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
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    thread = std::move(thread_);
  }
  changed_.NotifyAll();
  if (!thread.joinable()) return;
  thread.join();
}

void HeapTrim::EndBurst(std::size_t most, std::size_t left) {
  if (!most_.compare_exchange_strong(most, left)) return;  // another call has noticed the end
  MutexLock lock(mutex_);
  if (stopped_) return;
  wanted_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  changed_.NotifyAll();
}

void HeapTrim::Work() {
  SetThreadName("heap-trim");
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!wanted_ && !stopped_) changed_.Wait(mutex_);
      if (stopped_) return;
      wanted_ = false;
    }
    ::malloc_trim(0);
    trims_.fetch_add(1);
  }
}

}  // namespace ratchet::rpc
