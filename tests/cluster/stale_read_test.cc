// A region server is stopped with reads between their evaluation and their CHECK. When it resumes, another server owns
// the region and has acknowledged a newer value. None of those reads may be answered (S24: visible after sync); without
// the CHECK they would be.
#include <atomic>

#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/methods/client_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class StaleReadTest : public ClusterTest {
 protected:
  static constexpr Millis kHold{4'000};  // long enough to stop the server in between, on a busy machine too

  // Counts the held reads that were answered with the old value after the newer one was acknowledged.
  void HoldReadsThroughAFailover(const Environment& of_the_sleeper, int* stale_answers) {
    Boot(1, 2);
    if (HasFatalFailure()) return;
    MakeTable("s", 1);
    if (HasFatalFailure()) return;
    client::Table table(connection(), TableName("default", "s"));
    ASSERT_OK(table.Mutate(client::Mutation::Put("row").Set("u", "v", "old")));
    auto regions = admin().Regions(TableName("default", "s"));
    ASSERT_OK(regions);
    const RegionInfo region = regions->front().region;
    // From now on a fault point holds the reads of this server. A report must not find the fence before the reads
    // continue.
    const auto holder = cluster().MetaHolder();
    ASSERT_OK(holder);
    const std::string sleeper = *holder == "rs-1" ? "rs-2" : "rs-1";
    Environment environment = of_the_sleeper;
    environment.merge(ArmedWith(
        fmt::format("regionserver.before_read_reply~{}=delay:{}x1000000", region.encoded_name(), kHold.count())));
    ASSERT_OK(cluster().Kill9(sleeper));
    ASSERT_OK(cluster().Start(sleeper, environment, {"--report-interval-ms", "60000"}));
    ASSERT_OK(cluster().WaitServing(kPatience));
    const ServerName owner = ServerNameOf(sleeper);
    if (regions = admin().Regions(TableName("default", "s")); regions.ok() && regions->front().server != owner) {
      ASSERT_OK(admin().WaitOk(admin().Transit(client::RegionVerb::kMove, region.encoded_name(), owner)));
    }

    hbase::pb::GetRequest request;
    SpecifyRegion(region, *request.mutable_region());
    request.mutable_get()->set_row("row");
    std::atomic<bool> newer_acknowledged{false};
    std::atomic<int> stale{0};
    std::atomic<int> outstanding{0};
    const auto channel = connection().pool().Get(methods::kClientService, {owner.host, owner.port});
    for (int i = 0; i < 8; ++i) {  // fewer than the server has handlers
      rpc::CallOptions options;
      options.timeout = kPatience;
      ++outstanding;
      channel->Call(methods::kGet, request, std::move(options), [&](auto reply) {
        if (reply.ok() && newer_acknowledged) ++stale;
        --outstanding;
      });
    }
    ASSERT_OK(ProcessCluster::WaitUntil("eight evaluated reads", kPatience, [&] {
      return cluster().LogLines(sleeper, "regionserver.before_read_reply waits").size() >= 8;
    }));
    const SystemClock clock;
    const TimePoint held = clock.Now();
    ASSERT_OK(cluster().Pause(sleeper));
    ASSERT_EQ(outstanding, 8) << "the reads were answered before the server was stopped";
    ASSERT_OK(table.Mutate(client::Mutation::Put("row").Set("u", "v", "new")));
    newer_acknowledged = true;
    // The reads continue at once when the server resumes, before another part can detect the stop.
    ASSERT_OK(ProcessCluster::WaitUntil("the end of the hold", kPatience, [&] { return clock.Now() > held + kHold; }));
    ASSERT_OK(cluster().Resume(sleeper));
    const auto code = cluster().WaitExit(sleeper, kPatience);
    ASSERT_OK(code);
    EXPECT_TRUE(LearnedThatItWasGivenUp(*code)) << *code;
    ASSERT_OK(ProcessCluster::WaitUntil("all answers", kPatience, [&] { return outstanding == 0; }));
    *stale_answers = stale;
  }
};

TEST_F(StaleReadTest, HeldReadsAreNotAnsweredAfterAFailover) {
  int stale = 0;
  HoldReadsThroughAFailover({}, &stale);
  EXPECT_EQ(stale, 0);
}

#if defined(RATCHET_MUTANTS)
TEST_F(StaleReadTest, WithoutTheCheckTheyAreAnsweredWithTheOldValue) {
  int stale = 0;
  HoldReadsThroughAFailover({{"RATCHET_MUTANT", "regionserver.skip_read_check"}}, &stale);
  EXPECT_GT(stale, 0) << "the test above cannot fail";
}
#endif

}  // namespace
}  // namespace ratchet::chaos
