#include "master/process/periodic_thread.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr Millis kNeverByItself{86'400'000};

TEST(PeriodicThreadTest, ARunThatIsAskedForIsARunOfItsOwnAndIsTold) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> runs = 0;
  PeriodicThread thread("test", kNeverByItself, [&] {
    if (++runs == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
  });
  std::promise<int> first;
  std::promise<int> second;
  ASSERT_TRUE(thread.RunSoon([&](bool ran) { first.set_value(ran ? runs.load() : -1); }));
  begun.get_future().wait();
  ASSERT_TRUE(thread.RunSoon([&](bool ran) { second.set_value(ran ? runs.load() : -1); }));
  go_on.set_value();
  EXPECT_EQ(first.get_future().get(), 1);
  EXPECT_EQ(second.get_future().get(), 2) << "the run in progress had begun before the request";
}

TEST(PeriodicThreadTest, AStopTellsThoseThatWaitAndMoreThanItsBoundAreRefused) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> runs = 0;
  std::atomic<int> dropped = 0;
  PeriodicThread thread("test", kNeverByItself, [&] {
    if (++runs == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
  });
  ASSERT_TRUE(thread.RunSoon([](bool /*ran*/) {}));
  begun.get_future().wait();
  for (std::size_t i = 0; i < PeriodicThread::kMostWaiting; ++i)
    ASSERT_TRUE(thread.RunSoon([&](bool ran) { dropped += ran ? 0 : 1; }));
  EXPECT_FALSE(thread.RunSoon([](bool /*ran*/) {}));
  auto stopped = std::async(std::launch::async, [&] { thread.Stop(); });
  while (thread.RunSoon([](bool /*ran*/) {})) std::this_thread::yield();
  go_on.set_value();
  stopped.get();
  EXPECT_FALSE(thread.RunSoon([](bool /*ran*/) {}));
  EXPECT_EQ(dropped.load() + 0, runs.load() == 1 ? static_cast<int>(PeriodicThread::kMostWaiting) : 0);
}

}  // namespace
}  // namespace ratchet::master
