// Replication sources as HBase's clients see them.
#include "master/rpc/replication_load.h"

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr std::int64_t kNow = 1'000'000;
const ServerName kServer{"a", 16'020, 7};

hbase::pb::ReplicationProgress Of(const std::string& peer, const std::string& logs_of) {
  hbase::pb::ReplicationProgress progress;
  progress.set_peer(peer);
  progress.set_server(logs_of);
  return progress;
}

TEST(ReplicationLoadTest, ASourceThatIsLateTellsSinceWhen) {
  auto late = Of("p", kServer.ToString());
  late.set_lag_ms(400);
  late.set_logs(3);
  late.set_shipped(12);
  late.set_shipped_ms(kNow - 900);
  late.set_shipped_age_ms(25);
  hbase::pb::ServerLoad load;
  AddReplicationLoad(kServer, {late}, kNow, load);
  ASSERT_EQ(load.replloadsource_size(), 1);
  const auto& source = load.replloadsource(0);
  EXPECT_EQ(source.peerid(), "p");
  EXPECT_EQ(source.queueid(), "p");
  EXPECT_FALSE(source.recovered());
  EXPECT_TRUE(source.running());
  EXPECT_EQ(source.sizeoflogqueue(), 3U);
  EXPECT_EQ(source.replicationlag(), 400U);
  EXPECT_EQ(source.timestampofnexttoreplicate(), static_cast<std::uint64_t>(kNow - 400));
  EXPECT_EQ(source.timestampoflastshippedop(), static_cast<std::uint64_t>(kNow - 900));
  EXPECT_EQ(source.ageoflastshippedop(), 25U);
  EXPECT_EQ(source.opsshipped(), 12U);
  EXPECT_TRUE(source.editssincerestart());
}

TEST(ReplicationLoadTest, ClaimedLogsAreARecoveredQueueAndWhatIsHeldUpRuns) {
  auto claimed = Of("p", "dead,16020,3");
  claimed.set_error("the peer does not answer");
  auto whole = Of("", "dead,16020,3");
  whole.set_finished(false);
  hbase::pb::ServerLoad load;
  AddReplicationLoad(kServer, {claimed, whole}, kNow, load);
  ASSERT_EQ(load.replloadsource_size(), 1) << "the queue as a whole is not a source";
  EXPECT_EQ(load.replloadsource(0).queueid(), "p-dead,16020,3");
  EXPECT_TRUE(load.replloadsource(0).recovered());
  EXPECT_TRUE(load.replloadsource(0).running()) << "HBase's shell shows no lag of one that does not";
  EXPECT_EQ(load.replloadsource(0).timestampofnexttoreplicate(), 0U) << "nothing waits";
  EXPECT_FALSE(load.replloadsource(0).editssincerestart());
}

// HBase's shell leaves out servers that do not report themselves as a sink.
TEST(ReplicationLoadTest, AServerWithoutPeersShowsItselfAsASinkThatWaits) {
  hbase::pb::ServerLoad load;
  AddReplicationLoad(kServer, {}, kNow, load);
  EXPECT_EQ(load.replloadsource_size(), 0);
  EXPECT_EQ(load.replloadsink().timestampstarted(), 7U);
  EXPECT_EQ(load.replloadsink().timestampsoflastappliedop(), load.replloadsink().timestampstarted());
}

}  // namespace
}  // namespace ratchet::master
