// No wake-up is lost between workers that fall asleep and work that arrives: the test sets the order of events.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "procedure/engine/thread_workers.h"

namespace ratchet::procedure {
namespace {

// One search for work that found none, and the sleep after it.
class Sleeper {
 public:
  Sleeper(IdleWorkers& line, std::uint64_t seen, Millis idle = Millis{0})
      : thread_([this, &line, seen, idle] {
          goes_on_ = line.Sleep(seen, idle);
          up_ = true;
        }) {}
  ~Sleeper() { thread_.join(); }
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] bool goes_on() const { return goes_on_; }

 private:
  std::atomic<bool> up_{false};
  std::atomic<bool> goes_on_{false};
  std::thread thread_;
};

class IdleWorkersTest : public ::testing::Test {
 protected:
  ~IdleWorkersTest() override {
    line_.Close();
    sleepers_.clear();
  }
  // Returns false if this takes more than half a minute.
  static bool Await(const std::function<bool()>& condition) {
    Mutex mutex;
    CondVar cond;
    MutexLock lock(mutex);
    for (int i = 0; i < 15'000; ++i) {
      if (condition()) return true;
      cond.WaitFor(mutex, std::chrono::milliseconds(2));
    }
    return false;
  }
  // Returns once it sleeps.
  Sleeper& FallAsleep(std::uint64_t seen) {
    const std::size_t before = line_.sleepers();
    sleepers_.push_back(std::make_unique<Sleeper>(line_, seen));
    EXPECT_TRUE(Await([this, before] { return line_.sleepers() == before + 1; }));
    return *sleepers_.back();
  }

  IdleWorkers line_;
  std::vector<std::unique_ptr<Sleeper>> sleepers_;
};

TEST_F(IdleWorkersTest, NewsSinceTheLookKeepsAWorkerAwake) {
  const std::uint64_t seen = line_.news();
  EXPECT_FALSE(line_.Announce()) << "nobody sleeps, nobody has to be woken";
  EXPECT_TRUE(line_.Sleep(seen, Millis{0}));
}

TEST_F(IdleWorkersTest, OneWakeIsUnderWayAtATime) {
  const Sleeper& first = FallAsleep(line_.news());
  const Sleeper& second = FallAsleep(line_.news());
  ASSERT_TRUE(line_.Announce());
  EXPECT_FALSE(line_.Announce()) << "whoever is woken will see this too";
  line_.Ring();
  ASSERT_TRUE(Await([&] { return first.up() || second.up(); }));
  EXPECT_EQ(line_.sleepers(), 1U);
  EXPECT_TRUE(line_.Announce()) << "it is awake: the other one has to be woken for more";
  line_.Ring();
  EXPECT_TRUE(Await([&] { return first.up() && second.up(); }));
}

// A wake-up that was once lost: between a notifier's decision to wake a worker and its call of Ring, a worker looks for
// work, finds the announced work or none, and falls asleep. Ring wakes this worker, for which there is no news.
TEST_F(IdleWorkersTest, AWorkerThatIsWokenWithoutNewsLetsOthersBeWoken) {
  FallAsleep(line_.news());
  ASSERT_TRUE(line_.Announce());
  FallAsleep(line_.news());  // it has seen the announcement
  line_.Ring();
  ASSERT_TRUE(Await([this] { return line_.sleepers() == 1; })) << "whoever is woken leaves, whatever it has seen";
  ASSERT_TRUE(Await([this] { return sleepers_[0]->up() || sleepers_[1]->up(); }));
  EXPECT_TRUE(line_.Announce()) << "no worker is on the way";
  line_.Ring();
  EXPECT_TRUE(Await([this] { return sleepers_[0]->up() && sleepers_[1]->up(); }));
}

TEST_F(IdleWorkersTest, WakeThatFindsNoWorkerLeavesNothingBehind) {
  const Sleeper short_lived(line_, line_.news(), Millis{20});
  bool ring = false;
  // The work is usually announced while the worker sleeps; Ring is called when it has left by itself.
  ASSERT_TRUE(Await([&] {
    ring = ring || line_.Announce();
    return short_lived.up();
  }));
  if (ring) line_.Ring();
  const Sleeper& next = FallAsleep(line_.news());
  EXPECT_TRUE(line_.Announce());
  line_.Ring();
  EXPECT_TRUE(Await([&] { return next.up(); }));
  EXPECT_TRUE(next.goes_on());
}

TEST_F(IdleWorkersTest, AnIdleTimeThatIsOverEndsAWorkersLife) {
  const Sleeper idle(line_, line_.news(), Millis{5});
  ASSERT_TRUE(Await([&] { return idle.up(); }));
  EXPECT_FALSE(idle.goes_on());
  EXPECT_EQ(line_.sleepers(), 0U);
}

TEST_F(IdleWorkersTest, ClosingWakesAll) {
  for (int i = 0; i < 3; ++i) FallAsleep(line_.news());
  line_.Close();
  EXPECT_TRUE(Await([this] { return sleepers_[0]->up() && sleepers_[1]->up() && sleepers_[2]->up(); }));
  EXPECT_FALSE(sleepers_[0]->goes_on());
  EXPECT_FALSE(line_.Sleep(line_.news(), Millis{0})) << "closed for good";
}

// Notifiers that are delayed between their decision and their call of Ring; each waits until its own piece of work is
// done.
TEST_F(IdleWorkersTest, NothingIsLeftLyingWhileAllSleep) {
  constexpr int kWorkers = 3;
  constexpr int kNotifiers = 3;
  constexpr int kEach = 40;
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::atomic<int> waiting{0};
  std::atomic<int> done{0};
  std::atomic<bool> given_up{false};
  const auto announce = [this](Prng& prng) {
    if (!line_.Announce()) return;
    for (std::uint64_t i = prng.Below(4); i > 0; --i) std::this_thread::yield();
    line_.Ring();
  };
  std::vector<std::thread> threads;
  for (int w = 0; w < kWorkers; ++w) {
    threads.emplace_back([&, prng = Prng(seed + static_cast<std::uint64_t>(w))]() mutable {
      while (true) {
        const std::uint64_t seen = line_.news();
        int left = waiting;
        while (left > 0 && !waiting.compare_exchange_weak(left, left - 1)) {
        }
        if (left > 0) {
          if (left > 1) announce(prng);  // its caller's part: a worker that takes one wakes the next
          ++done;
        } else if (!line_.Sleep(seen, Millis{0})) {
          return;
        }
      }
    });
  }
  std::vector<std::thread> notifiers;
  for (int n = 0; n < kNotifiers; ++n) {
    notifiers.emplace_back([&, prng = Prng(seed + 100 + static_cast<std::uint64_t>(n))]() mutable {
      for (int i = 0; i < kEach && !given_up; ++i) {
        ++waiting;
        announce(prng);
        if (!Await([&] { return waiting == 0 || given_up; })) given_up = true;
      }
    });
  }
  for (std::thread& notifier : notifiers) notifier.join();
  EXPECT_FALSE(given_up) << waiting << " lie there, " << line_.sleepers() << " of " << kWorkers << " sleep";
  line_.Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(given_up || done == kNotifiers * kEach) << done;
}

}  // namespace
}  // namespace ratchet::procedure
