#include "common/base/thread_pool.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/thread_name.h"

namespace ratchet {
namespace {

constexpr std::chrono::seconds kPoolPatience{60};

// Blocks the job that runs it until the test releases it.
class Gate {
 public:
  ThreadPool::Job Job(bool urgent = false) {
    return {[this] { entered_.set_value(), released_.get_future().wait(); }, {}, urgent};
  }
  [[nodiscard]] bool Entered() { return entered_.get_future().wait_for(kPoolPatience) == std::future_status::ready; }
  void Release() { released_.set_value(); }

 private:
  std::promise<void> entered_;
  std::promise<void> released_;
};

TEST(ThreadPoolTest, OneThreadRunsJobsInOrderAndRefusesMoreThanMayWait) {
  Gate gate;
  std::vector<int> done;
  std::promise<void> all;
  ThreadPool pool({.name = "test", .max_queued = 2});  // last, because its threads use the others
  ASSERT_TRUE(pool.Submit(gate.Job()));
  ASSERT_TRUE(gate.Entered());
  ASSERT_TRUE(pool.Submit({[&] { done.push_back(1); }}));
  ASSERT_TRUE(pool.Submit({[&] {
    done.push_back(2);
    all.set_value();
  }}));
  EXPECT_FALSE(pool.Submit({[&] { done.push_back(3); }})) << "two wait, and more may not";
  gate.Release();
  ASSERT_EQ(all.get_future().wait_for(kPoolPatience), std::future_status::ready);
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
}

TEST(ThreadPoolTest, UrgentJobsWaitForNoOtherJob) {
  Gate first;
  Gate second;
  std::promise<void> done;
  ThreadPool pool({.name = "test", .threads = 2, .urgent_threads = 1});
  ASSERT_TRUE(pool.Submit(first.Job()));
  ASSERT_TRUE(pool.Submit(second.Job()));
  ASSERT_TRUE(first.Entered());
  ASSERT_TRUE(second.Entered()) << "two threads run other jobs at the same time";
  ASSERT_TRUE(pool.Submit({[&] { done.set_value(); }, {}, /*urgent=*/true}));
  EXPECT_EQ(done.get_future().wait_for(kPoolPatience), std::future_status::ready) << "it waits for other jobs";
  first.Release();
  second.Release();
}

TEST(ThreadPoolTest, UrgentJobsPrecedeQueuedJobs) {
  Gate other;
  Gate urgent;
  std::promise<std::string> first;
  std::atomic<bool> told{false};
  const auto tell = [&](const char* who) { return [&, who] { told.exchange(true) ? void() : first.set_value(who); }; };
  ThreadPool pool({.name = "test", .urgent_threads = 1});
  ASSERT_TRUE(pool.Submit(other.Job()));
  ASSERT_TRUE(other.Entered());
  ASSERT_TRUE(pool.Submit(urgent.Job(/*urgent=*/true)));
  ASSERT_TRUE(urgent.Entered());
  ASSERT_TRUE(pool.Submit({tell("other")}));
  ASSERT_TRUE(pool.Submit({tell("urgent"), {}, true}));
  other.Release();  // the thread for all jobs is free, and takes the later one
  auto came = first.get_future();
  ASSERT_EQ(came.wait_for(kPoolPatience), std::future_status::ready);
  EXPECT_EQ(came.get(), "urgent");
  urgent.Release();
}

TEST(ThreadPoolTest, UrgentJobsHaveABoundOfTheirOwn) {
  Gate gate;
  Gate urgent;
  std::atomic<int> dropped{0};
  ThreadPool pool({.name = "test", .urgent_threads = 1, .max_queued = 1});
  const auto job = [&dropped](bool is_urgent) { return ThreadPool::Job{[] {}, [&dropped] { ++dropped; }, is_urgent}; };
  EXPECT_TRUE(pool.Submit(gate.Job()));
  ASSERT_TRUE(gate.Entered());
  EXPECT_TRUE(pool.Submit(job(false)));
  EXPECT_FALSE(pool.Submit(job(false)));
  EXPECT_EQ(dropped, 1);
  EXPECT_TRUE(pool.Submit(urgent.Job(/*urgent=*/true)));
  ASSERT_TRUE(urgent.Entered());
  EXPECT_TRUE(pool.Submit(job(true)));
  EXPECT_FALSE(pool.Submit(job(true)));
  EXPECT_EQ(dropped, 2);
  gate.Release();
  urgent.Release();
}

TEST(ThreadPoolTest, StopDropsQueuedAndLaterJobsAndWaitsForTheRunningOne) {
  Gate gate;
  std::atomic<int> dropped{0};
  std::atomic<bool> stopped{false};
  const auto captured = std::make_shared<int>(0);
  const auto never = [captured] { FAIL() << "runs after the stop"; };
  ThreadPool pool({.name = "test"});
  ASSERT_TRUE(pool.Submit(gate.Job()));
  ASSERT_TRUE(gate.Entered());
  ASSERT_TRUE(pool.Submit({never, [&] { ++dropped; }}));
  ASSERT_TRUE(pool.Submit({never, [&] { ++dropped; }, /*urgent=*/true}));
  std::thread stopper([&] {
    pool.Stop();
    stopped = true;
  });
  while (captured.use_count() > 2) std::this_thread::yield();  // only `captured` and `never` have it: both are dropped
  EXPECT_EQ(dropped, 2);
  EXPECT_FALSE(stopped);
  EXPECT_FALSE(pool.Submit({never, [&] { ++dropped; }}));
  EXPECT_EQ(dropped, 3);
  gate.Release();
  stopper.join();
  EXPECT_EQ(dropped, 3);
}

TEST(ThreadPoolTest, BeginStopDoesNotWait) {
  Gate gate;
  ThreadPool pool({.name = "test"});
  ASSERT_TRUE(pool.Submit(gate.Job()));
  ASSERT_TRUE(gate.Entered());
  pool.BeginStop();
  EXPECT_FALSE(pool.Submit({[] {}}));
  gate.Release();
}

TEST(ThreadPoolTest, ThreadsHaveThePoolsName) {
  const auto name_in = [](const ThreadPool::Options& options) {
    std::promise<std::string> name;
    ThreadPool pool(options);
    EXPECT_TRUE(pool.Submit({[&] { name.set_value(ThreadName()); }, {}, options.threads == 0}));
    return name.get_future().get();
  };
  EXPECT_EQ(name_in({.name = "flush"}), "flush-0");
  EXPECT_EQ(name_in({.name = "slow-work", .numbered = false}), "slow-work");
  EXPECT_EQ(name_in({.name = "only-urgent", .threads = 0, .urgent_threads = 1}), "only-urgent-0");
}

}  // namespace
}  // namespace ratchet
