// A mutex for very short critical sections under heavy contention: spins a while, then sleeps.
//
// Made for throughput, not for fairness: a running thread may take it before a sleeper. A spinner backs off for longer
// and longer, so that one thread does many sections in a row while the data stays in its cache. At most one sleeper is
// being woken at any time. Use Mutex (mutex.h) wherever sections are longer than a microsecond or a thread waits for a
// condition.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/base/thread_annotations.h"

namespace ratchet {

class CAPABILITY("mutex") alignas(64) AdaptiveMutex {
 public:
  AdaptiveMutex() = default;
  AdaptiveMutex(const AdaptiveMutex&) = delete;
  AdaptiveMutex& operator=(const AdaptiveMutex&) = delete;

  void Lock() ACQUIRE() {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed))
      LockSlow();
  }
  bool TryLock() TRY_ACQUIRE(true) {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void Unlock() RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) WakeOne();
  }

 private:
  // A holder that leaves sleepers behind also sets kFree, so that only the thread woken then (which locks it as
  // kHeldWithSleepers) causes the next wake.
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldWithSleepers = 2;

  void LockSlow();
  void WakeOne();
  bool SpinFor(std::uint32_t as);

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace ratchet
