#include "master/process/task_thread.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

TEST(TaskThreadTest, DoesOnePieceAfterTheOtherAndRefusesWhatItsLineDoesNotHold) {
  TaskThread thread("test", 2);
  std::promise<void> begun;
  std::promise<void> go_on;
  std::vector<int> done;
  ASSERT_TRUE(thread.Run([&] {
    begun.set_value();
    go_on.get_future().wait();
    done.push_back(1);
  }));
  begun.get_future().wait();
  std::promise<void> all;
  ASSERT_TRUE(thread.Run([&] { done.push_back(2); }));
  ASSERT_TRUE(thread.Run([&] {
    done.push_back(3);
    all.set_value();
  }));
  EXPECT_FALSE(thread.Run([&] { done.push_back(4); })) << "two wait, and more may not";
  go_on.set_value();
  all.get_future().wait();
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3}));
}

TEST(TaskThreadTest, AStopWaitsForWhatIsUnderWayAndDropsTheRest) {
  TaskThread thread("test", 2);
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> done = 0;
  ASSERT_TRUE(thread.Run([&] {
    begun.set_value();
    go_on.get_future().wait();
    ++done;
  }));
  begun.get_future().wait();
  const auto waits = std::make_shared<int>(0);
  ASSERT_TRUE(thread.Run([&done, waits] { done += 10; }));
  std::thread stopper([&thread] { thread.Stop(); });
  while (waits.use_count() > 1) std::this_thread::yield();  // it has been dropped
  go_on.set_value();
  stopper.join();
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(thread.Run([&done] { ++done; }));
}

}  // namespace
}  // namespace ratchet::master
