#include "master/storage/file_threads.h"

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr std::chrono::seconds kSealPatience{60};

// Blocks the code that runs it until the test releases it.
class Gate {
 public:
  FileThreads::Job Job(bool urgent = false) {
    return {[this] { entered.set_value(), let_go.get_future().wait(); }, [] {}, urgent};
  }
  std::promise<void> entered;
  std::promise<void> let_go;
};

TEST(FileThreadsTest, LogsOfTheServerWithMetaWaitForNoOtherServers) {
  Gate first;
  Gate second;
  std::promise<void> done;
  FileThreads threads({"test", 2});  // last, because its threads use the others until it has joined them
  threads.Run(first.Job());
  threads.Run(second.Job());
  ASSERT_EQ(first.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  ASSERT_EQ(second.entered.get_future().wait_for(kSealPatience), std::future_status::ready)
      << "servers that died together, one after the other";
  threads.Run({[&] { done.set_value(); }, [] {}, /*urgent=*/true});
  EXPECT_EQ(done.get_future().wait_for(kSealPatience), std::future_status::ready) << "it waits for other servers' logs";
  first.let_go.set_value();
  second.let_go.set_value();
}

TEST(FileThreadsTest, WhatIsUrgentOvertakesWhatWaits) {
  Gate other;
  Gate urgent;
  std::promise<std::string> first;
  std::atomic<bool> told{false};
  const auto tell = [&](const char* who) { return [&, who] { told.exchange(true) ? void() : first.set_value(who); }; };
  FileThreads threads({"test", 1});
  threads.Run(other.Job());
  ASSERT_EQ(other.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  threads.Run(urgent.Job(/*urgent=*/true));
  ASSERT_EQ(urgent.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  threads.Run({tell("another server's"), [] {}, false});
  threads.Run({tell("meta's"), [] {}, true});
  other.let_go.set_value();  // the thread for all jobs is free, and takes the later one
  auto came = first.get_future();
  ASSERT_EQ(came.wait_for(kSealPatience), std::future_status::ready);
  EXPECT_EQ(came.get(), "meta's");
  urgent.let_go.set_value();
}

TEST(FileThreadsTest, MoreThanMayWaitAreRefused) {
  Gate gate;
  Gate urgent;
  std::atomic<int> dropped{0};
  FileThreads threads({"test", 1, 1});
  const auto job = [&dropped](bool is_urgent) { return FileThreads::Job{[] {}, [&dropped] { ++dropped; }, is_urgent}; };
  EXPECT_TRUE(threads.Run(gate.Job()));
  ASSERT_EQ(gate.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  EXPECT_TRUE(threads.Run(job(false)));
  EXPECT_FALSE(threads.Run(job(false)));
  EXPECT_EQ(dropped, 1);
  EXPECT_TRUE(threads.Run(urgent.Job(/*urgent=*/true))) << "urgent ones have a share of their own";
  ASSERT_EQ(urgent.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  EXPECT_TRUE(threads.Run(job(true)));
  EXPECT_FALSE(threads.Run(job(true)));
  gate.let_go.set_value();
  urgent.let_go.set_value();
}

TEST(FileThreadsTest, StopDropsWhatWaitsAndWhatComesLater) {
  Gate gate;
  FileThreads threads({"test", 1});
  threads.Run(gate.Job());
  ASSERT_EQ(gate.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  std::atomic<int> dropped{0};
  threads.Run({[] { FAIL() << "runs after the stop"; }, [&] { ++dropped; }, false});
  std::atomic<bool> stopping{false};
  std::thread letting([&] {  // once the stop has begun, which drops later jobs at once
    while (!stopping) {
      std::this_thread::yield();
      threads.Run({[] { FAIL() << "runs after the stop"; }, [&] { stopping = true; }, false});
    }
    gate.let_go.set_value();
  });
  threads.Stop();
  letting.join();
  threads.Run({[] { FAIL() << "runs after the stop"; }, [&] { ++dropped; }, true});
  EXPECT_EQ(dropped, 2);
}

}  // namespace
}  // namespace ratchet::master
