#include "common/base/clock.h"

#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "tests/support/manual_time.h"

namespace ratchet {
namespace {

TEST(ManualTimeTest, RunsDueTimersInOrderAndNoOthers) {
  ManualTime time;
  std::vector<int> ran;
  time.After(Millis(30), [&] { ran.push_back(3); });
  time.After(Millis(10), [&] {
    ran.push_back(1);
    time.After(Millis(10), [&] { ran.push_back(2); });  // due at 20, while Advance runs
  });
  time.After(Millis(31), [&] { ran.push_back(4); });
  time.Advance(Millis(30));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(time.Now(), TimePoint(Millis(30)));
  EXPECT_TRUE(time.RunNext());
  EXPECT_FALSE(time.RunNext());
  EXPECT_EQ(ran.back(), 4);
}

TEST(ManualTimeTest, ACancelledTimerNeverRuns) {
  ManualTime time;
  bool ran = false;
  const auto handle = time.After(Millis(1), [&] { ran = true; });
  EXPECT_TRUE(time.Cancel(handle));
  EXPECT_FALSE(time.Cancel(handle));
  time.Advance(Millis(5));
  EXPECT_FALSE(ran);
  EXPECT_EQ(time.pending(), 0u);
}

TEST(ManualTimeTest, WallTimeFollows) {
  ManualTime time(1'000);
  time.Advance(Millis(250));
  EXPECT_EQ(time.WallMillis(), 1'250);
}

TEST(ThreadTimersTest, RunsCallbacksInOrderOfDueTime) {
  Mutex mutex;
  CondVar changed;
  std::vector<int> ran;
  const auto timers = MakeThreadTimers();
  const auto note = [&](int number) {
    MutexLock lock(mutex);
    ran.push_back(number);
    changed.NotifyAll();
  };
  timers->After(Millis(20), [&] { note(2); });
  timers->After(Millis(1), [&] { note(1); });
  const auto cancelled = timers->After(Millis(10), [&] { note(99); });
  EXPECT_TRUE(timers->Cancel(cancelled));
  MutexLock lock(mutex);
  while (ran.size() < 2) ASSERT_TRUE(changed.WaitFor(mutex, std::chrono::seconds(10)));
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(ThreadTimersTest, DestructionDropsWhatIsNotDue) {
  bool ran = false;
  {
    const auto timers = MakeThreadTimers();
    timers->After(std::chrono::hours(1), [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace ratchet
