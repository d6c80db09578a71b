#include "chaos/workloads/load.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/client/connection.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OutcomeOfTest, FailedIsOnlyWhatWasCertainlyNotExecuted) {
  EXPECT_EQ(OutcomeOf(Error(Code::kTimeout, "gave up")), OperationOutcome::kFailed);
  EXPECT_EQ(OutcomeOf(Error(Code::kUnavailable, "refused", std::string(rpc::kNotSent))), OperationOutcome::kFailed);
  EXPECT_EQ(OutcomeOf(Error(Code::kTimeout, "gave up", std::string(rpc::kCallTimeout))), OperationOutcome::kUnknown);
  EXPECT_EQ(OutcomeOf(Error(Code::kAborted, "closed")), OperationOutcome::kUnknown);
  EXPECT_EQ(OutcomeOf(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "what?")), OperationOutcome::kUnknown);
}

TEST(TallyTest, CountsOutcomesAndTheLongestGapBetweenAnswers) {
  Tally tally;
  tally.Add(OperationOutcome::kUnknown);
  EXPECT_FALSE(tally.Snapshot().last_ok.has_value());
  tally.Add(OperationOutcome::kOk);
  const auto until = std::chrono::steady_clock::now() + Millis{30};
  while (std::chrono::steady_clock::now() < until) tally.Add(OperationOutcome::kFailed);
  tally.Add(OperationOutcome::kOk);
  tally.Add(OperationOutcome::kOk);
  const auto counters = tally.Snapshot();
  EXPECT_EQ(counters.ok, 3U);
  EXPECT_EQ(counters.unknown, 1U);
  EXPECT_GT(counters.failed, 0U);
  EXPECT_GE(counters.longest_gap, Millis{30});
}

TEST(LoadThreadsTest, EachThreadDrawsTheSameNumbersFromTheSameSeed) {
  const auto first_draws = [](std::uint64_t seed) {
    std::array<std::atomic<std::uint64_t>, 3> drawn{};
    LoadThreads threads;
    threads.Start("test", 3, seed, [&](int thread, Prng& prng) {
      auto& slot = drawn[static_cast<std::size_t>(thread)];
      if (slot == 0) slot = prng.Next();
      threads.Pause(Millis{60'000});  // ended by Stop
    });
    while (drawn[0] == 0 || drawn[1] == 0 || drawn[2] == 0) std::this_thread::yield();
    threads.Stop();
    return std::vector<std::uint64_t>{drawn[0], drawn[1], drawn[2]};
  };
  const auto one = first_draws(1);
  EXPECT_EQ(one, first_draws(1));
  EXPECT_NE(one, first_draws(2));
  EXPECT_NE(one[0], one[1]);
}

TEST(PrefixesTest, CutTheSpaceEvenly) {
  EXPECT_THAT(EvenPrefixes(4, true), ElementsAre("4000", "8000", "c000"));
  EXPECT_THAT(EvenPrefixes(2, false), ElementsAre(std::string("\x80\0", 2)));
  EXPECT_TRUE(EvenPrefixes(1, true).empty());
  EXPECT_EQ(PrefixOfRegion(0, 4), "0000");
  EXPECT_EQ(PrefixOfRegion(3, 4), "c000");
}

TEST(MakeWorkloadTest, KnowsItsNamesAndSaysThemWhenAskedForAnother) {
  client::ConnectionOptions options;
  options.masters = {"127.0.0.1:1"};
  auto connection = client::Connection::Open(options);
  ASSERT_TRUE(connection.ok());
  EXPECT_THAT(WorkloadNames(), ElementsAre("registers", "lists", "bank", "ddl", "huge-rows", "splits", "snapshots",
                                           "alter", "drain", "balance", "scans", "java", "replication"));
  EXPECT_THAT(UsualWorkloadNames(), ElementsAre("registers", "lists", "bank", "ddl", "huge-rows", "splits", "snapshots",
                                                "alter", "drain", "balance", "scans"));
  EXPECT_TRUE(NeedsSecondCluster("replication"));
  EXPECT_TRUE(NeedsClientProgram("java"));
  EXPECT_FALSE(NeedsClientProgram("registers"));
  const auto unknown = MakeWorkload("rain", {**connection, 1, 2, 4, "t"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(unknown.error().message(), HasSubstr("registers, lists, bank, ddl"));
}

TEST(MakeWorkloadTest, AWorkloadWithoutItsProgramSaysWhatMakesIt) {
  EXPECT_EQ(WhyNoWorkload("registers", ""), std::nullopt);
  EXPECT_THAT(WhyNoWorkload("java", "").value_or(""), HasSubstr("scripts/client-loads"));
  EXPECT_THAT(WhyNoWorkload("java", "/no-such-directory").value_or(""),
              HasSubstr("/no-such-directory/java.arguments: scripts/client-loads makes it"));
}

// No process answers at all. Pending operations are given up in time, and all of them count as failed, because no
// request was ever sent.
TEST(MakeWorkloadTest, EveryLoadStopsWhileTheClusterIsDown) {
  client::ConnectionOptions options;
  options.masters = {"127.0.0.1:1"};
  auto connection = client::Connection::Open(options);
  ASSERT_TRUE(connection.ok());
  std::vector<std::unique_ptr<Workload>> workloads;
  for (const auto name : WorkloadNames()) {
    auto made = MakeWorkload(name, {**connection, 1, 2, 4, "t"});
    ASSERT_TRUE(made.ok());
    workloads.push_back(std::move(*made));
    workloads.back()->Start();
  }
  for (auto& workload : workloads) workload->AskToStop();
  for (auto& workload : workloads) {
    workload->Stop();
    const auto counters = workload->counters();
    EXPECT_EQ(counters.ok, 0U) << workload->name();
    if (workload->name() != "lists") {
      EXPECT_EQ(counters.unknown, 0U) << workload->name();
    }
  }
}

}  // namespace
}  // namespace ratchet::chaos
