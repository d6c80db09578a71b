#include "regionserver/host/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/no_threads.h"

namespace ratchet::regionserver {
namespace {

TEST(SideBySideTest, EveryJobRunsOnceWhateverTheNumberOfThreads) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{3}, std::size_t{50}}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{40}}) {
      std::vector<std::atomic<int>> runs(count);
      RunSideBySide(
          threads, count, [&](std::size_t i) { ++runs[i]; }, "test");
      EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& times) { return times == 1; }));
    }
  }
}

TEST(SideBySideTest, JobsThatWaitDoSoTogether) {
  std::atomic<int> begun{0};
  std::atomic<int> met{0};
  const auto meet = [&](std::size_t) {
    ++begun;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun < 4 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    if (begun == 4) ++met;
  };
  RunSideBySide(4, 4, meet, "test");
  EXPECT_EQ(met, 4) << "one waited for the end of another";
}

TEST(SideBySideTest, WithoutAnotherThreadEveryJobRunsAllTheSame) {
  std::vector<std::atomic<int>> runs(40);
  {
    const NoThreads none;
    RunSideBySide(
        4, runs.size(), [&](std::size_t i) { ++runs[i]; }, "test");
  }
  EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& times) { return times == 1; }));
}

}  // namespace
}  // namespace ratchet::regionserver
