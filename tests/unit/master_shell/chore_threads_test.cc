#include "master/process/chore_threads.h"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr Millis kNeverByItself{86'400'000};
constexpr Millis kOften{1};

// A chore that stays in its first run until it is released.
class Held {
 public:
  [[nodiscard]] Chore AsChore(const std::string& name, bool blocks) {
    return {name, kNeverByItself,
            [this] {
              if (++runs_ == 1) {
                begun_.set_value();
                go_on_.get_future().wait();
              }
            },
            blocks};
  }
  void WaitUntilBegun() { begun_.get_future().wait(); }
  void Release() { go_on_.set_value(); }
  [[nodiscard]] int runs() const { return runs_.load(); }

 private:
  std::promise<void> begun_;
  std::promise<void> go_on_;
  std::atomic<int> runs_ = 0;
};

class ChoreThreadsTest : public ::testing::Test {
 protected:
  SystemClock clock_;
  Held held_;
};

TEST_F(ChoreThreadsTest, RequestDuringARunGetsARunOfItsOwn) {
  ChoreThreads threads(clock_, {held_.AsChore("test", true)});
  std::promise<int> first;
  std::promise<int> second;
  ASSERT_TRUE(threads.RunSoon("test", [&](bool ran) { first.set_value(ran ? held_.runs() : -1); }));
  held_.WaitUntilBegun();
  ASSERT_TRUE(threads.RunSoon("test", [&](bool ran) { second.set_value(ran ? held_.runs() : -1); }));
  held_.Release();
  EXPECT_EQ(first.get_future().get(), 1);
  EXPECT_EQ(second.get_future().get(), 2) << "the run in progress had begun before the request";
}

TEST_F(ChoreThreadsTest, StopNotifiesWaitingCallersAndTheirNumberIsBounded) {
  std::atomic<int> dropped = 0;
  ChoreThreads threads(clock_, {held_.AsChore("test", true)});
  ASSERT_TRUE(threads.RunSoon("test", [](bool /*ran*/) {}));
  held_.WaitUntilBegun();
  for (std::size_t i = 0; i < ChoreThreads::kMostWaiting; ++i)
    ASSERT_TRUE(threads.RunSoon("test", [&](bool ran) { dropped += ran ? 0 : 1; }));
  EXPECT_FALSE(threads.RunSoon("test", [](bool /*ran*/) {}));
  auto stopped = std::async(std::launch::async, [&] { threads.Stop(); });
  while (threads.RunSoon("test", [](bool /*ran*/) {})) std::this_thread::yield();
  held_.Release();
  stopped.get();
  EXPECT_FALSE(threads.RunSoon("test", [](bool /*ran*/) {}));
  EXPECT_EQ(dropped.load(), held_.runs() == 1 ? static_cast<int>(ChoreThreads::kMostWaiting) : 0);
}

TEST_F(ChoreThreadsTest, ChoreThatBlocksDelaysNoOther) {
  std::promise<void> thrice;
  std::atomic<int> runs = 0;
  ChoreThreads threads(clock_, {held_.AsChore("cleaner", true), {"urgent", kOften, [&] {
                                                                   if (++runs == 3) thrice.set_value();
                                                                 }}});
  ASSERT_TRUE(threads.RunSoon("cleaner", [](bool /*ran*/) {}));
  held_.WaitUntilBegun();
  thrice.get_future().wait();
  EXPECT_EQ(held_.runs(), 1) << "it is still running";
  held_.Release();
}

TEST_F(ChoreThreadsTest, ChoresThatDoNotBlockShareAThread) {
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  ChoreThreads threads(clock_, {{"a", kNeverByItself, [&] { first.set_value(std::this_thread::get_id()); }},
                                {"b", kNeverByItself, [&] { second.set_value(std::this_thread::get_id()); }}});
  ASSERT_TRUE(threads.RunSoon("b", [](bool /*ran*/) {}));
  ASSERT_TRUE(threads.RunSoon("a", [](bool /*ran*/) {}));
  EXPECT_EQ(first.get_future().get(), second.get_future().get());
}

}  // namespace
}  // namespace ratchet::master
