// Threads that wait for their own commits: all of one sync are woken together, and by no other's.
//
// A commit is known by its turn: how often the writer had emptied the queue when the commit was queued. All commits of
// a turn are completed before any of the next; so two words to sleep at are enough, and a thread that sleeps there is
// woken for little else. With a condition variable for each waiter the writer made a system call for each, which took
// twenty waiters twice the time of their sync; now the next sync goes on while they wake (docs/benchmarks.md).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "common/base/result.h"

namespace ratchet::procedure {

// On the stack of the thread that waits.
class CommitWait {
 public:
  // Writer, once. The waiter may be gone right after.
  void Complete(Result<std::uint64_t> outcome) {
    outcome_.emplace(std::move(outcome));
    ready_.store(true, std::memory_order_release);
  }

 private:
  friend class CommitWaits;
  std::optional<Result<std::uint64_t>> outcome_;
  std::atomic<bool> ready_{false};
};

class CommitWaits {
 public:
  // Any thread: blocks until `wait` was completed and its turn woken.
  Result<std::uint64_t> Await(std::uint64_t turn, CommitWait& wait) {
    Word& word = words_[turn % words_.size()];
    for (;;) {
      const int seen = word.changes.load(std::memory_order_acquire);
      if (wait.ready_.load(std::memory_order_acquire)) return std::move(*wait.outcome_);
      word.changes.wait(seen, std::memory_order_acquire);
      if (word.others_sleep.exchange(false)) word.changes.notify_all();
    }
  }
  // Writer, after it completed commits of this turn. It wakes one waiter, which wakes the others: the writer has the
  // next sync to begin.
  void Wake(std::uint64_t turn) {
    Word& word = words_[turn % words_.size()];
    word.others_sleep.store(true);
    word.changes.fetch_add(1);
    word.changes.notify_one();
  }

 private:
  struct alignas(64) Word {
    std::atomic<int> changes{0};  // an int: what the kernel can sleep at
    std::atomic<bool> others_sleep{false};
  };
  std::array<Word, 2> words_{};
};

}  // namespace ratchet::procedure
