#include "master/files/seal_threads.h"

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr std::chrono::seconds kSealPatience{60};

// Holds up whatever runs it until it is let go.
class Gate {
 public:
  SealThreads::Job Job(bool urgent = false) {
    return {[this] { entered.set_value(), let_go.get_future().wait(); }, [] {}, urgent};
  }
  std::promise<void> entered;
  std::promise<void> let_go;
};

TEST(SealThreadsTest, LogsOfTheServerWithMetaWaitForNoOtherServers) {
  Gate first;
  Gate second;
  std::promise<void> done;
  SealThreads threads(2);  // last, because its threads use the others until it has joined them
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

TEST(SealThreadsTest, WhatIsUrgentOvertakesWhatWaits) {
  Gate other;
  Gate urgent;
  std::promise<std::string> first;
  std::atomic<bool> told{false};
  const auto tell = [&](const char* who) { return [&, who] { told.exchange(true) ? void() : first.set_value(who); }; };
  SealThreads threads(1);
  threads.Run(other.Job());
  ASSERT_EQ(other.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  threads.Run(urgent.Job(/*urgent=*/true));
  ASSERT_EQ(urgent.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  threads.Run({tell("another server's"), [] {}, false});
  threads.Run({tell("meta's"), [] {}, true});
  other.let_go.set_value();  // the thread for all jobs is free, and takes the one that came later
  auto came = first.get_future();
  ASSERT_EQ(came.wait_for(kSealPatience), std::future_status::ready);
  EXPECT_EQ(came.get(), "meta's");
  urgent.let_go.set_value();
}

TEST(SealThreadsTest, StopDropsWhatWaitsAndWhatComesLater) {
  Gate gate;
  SealThreads threads(1);
  threads.Run(gate.Job());
  ASSERT_EQ(gate.entered.get_future().wait_for(kSealPatience), std::future_status::ready);
  std::atomic<int> dropped{0};
  threads.Run({[] { FAIL() << "runs after the stop"; }, [&] { ++dropped; }, false});
  std::atomic<bool> stopping{false};
  std::thread letting([&] {  // once the stop has begun, which drops at once what comes
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
