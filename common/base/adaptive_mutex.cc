#include "common/base/adaptive_mutex.h"

#include <thread>

namespace ratchet {
namespace {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Rounds of a spin, and the longest back-off between two attempts, in pause instructions (about ten nanoseconds each).
constexpr int kRounds = 24;
constexpr int kLongestStep = 64;

}  // namespace

bool AdaptiveMutex::SpinFor(std::uint32_t as) {
  // With one processor the holder cannot run meanwhile.
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone) return false;
  int step = 4;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < step; ++i) Pause();
    if (step < kLongestStep) step *= 2;
    std::uint32_t seen = state_.load(std::memory_order_relaxed);
    if (seen == kFree &&
        state_.compare_exchange_strong(seen, as, std::memory_order_acquire, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void AdaptiveMutex::LockSlow() NO_THREAD_SAFETY_ANALYSIS {
  if (SpinFor(kHeld)) return;
  // From here on this thread counts as a sleeper: its unlock wakes another one, whatever state it leaves.
  while (state_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
    state_.wait(kHeldWithSleepers, std::memory_order_relaxed);
    if (SpinFor(kHeldWithSleepers)) return;
  }
}

void AdaptiveMutex::WakeOne() { state_.notify_one(); }

}  // namespace ratchet
