// Lets threads wait for their own commits: all waiters of one sync are woken together, and by no other sync.
//
// A commit is identified by its turn: how often the writer had emptied the queue when the commit was queued. All
// commits of a turn are completed before any of the next. So two futex words are enough, and a thread that sleeps at
// one is rarely woken for another turn. With a condition variable for each waiter the writer made a system call for
// each, which for twenty waiters took twice the time of their sync; now the next sync runs while they wake
// (docs/benchmarks.md).
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
  // Called by the writer, once. The waiter may be gone right after.
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
  // Any thread: blocks until `wait` was completed and its turn was woken.
  Result<std::uint64_t> Await(std::uint64_t turn, CommitWait& wait) {
    Word& word = words_[turn % words_.size()];
    for (;;) {
      const int seen = word.changes.load(std::memory_order_acquire);
      if (wait.ready_.load(std::memory_order_acquire)) return std::move(*wait.outcome_);
      word.changes.wait(seen, std::memory_order_acquire);
      if (word.others_sleep.exchange(false)) word.changes.notify_all();
    }
  }
  // Called by the writer after it completed commits of this turn. Wakes one waiter, which wakes the others, because the
  // writer has the next sync to begin.
  void Wake(std::uint64_t turn) {
    Word& word = words_[turn % words_.size()];
    word.others_sleep.store(true);
    word.changes.fetch_add(1);
    word.changes.notify_one();
  }

 private:
  struct alignas(64) Word {
    std::atomic<int> changes{0};  // an int: the type of a futex word
    std::atomic<bool> others_sleep{false};
  };
  std::array<Word, 2> words_{};
};

}  // namespace ratchet::procedure
