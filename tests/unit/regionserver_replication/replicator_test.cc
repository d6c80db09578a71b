// A server's sources by the master's list, and which logs stay.
#include "regionserver/replication/replicator.h"

#include <atomic>

#include "common/base/mutant.h"
#include "tests/unit/regionserver_replication/replication_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kSelf = "a,1,1";
constexpr const char* kDead = "gone,2,2";

class ReplicatorTest : public ::testing::Test {
 protected:
  ReplicatorTest() {
    logs_.Roll();
    Replicator::Parts parts;
    parts.own_id = kOwnId;
    parts.own = logs_.Live();
    parts.keep_from = [this](std::uint64_t number) { kept_from_ = number; };
    parts.root = &dead_.root();
    parts.connect = [this](const ClusterKey& /*key*/) -> std::unique_ptr<PeerSink> {
      auto made = std::make_unique<Forward>(sink_);
      return made;
    };
    parts.positions = positions_;
    parts.clock = &clock_;
    parts.source = Quick();
    replicator_ = std::make_unique<Replicator>(std::move(parts));
  }
  // Many sources, one sink that the test looks at.
  class Forward final : public PeerSink {
   public:
    explicit Forward(std::shared_ptr<FakeSink> to) : to_(std::move(to)) {}
    Result<std::string> ClusterId() override { return to_->ClusterId(); }
    Status Ship(const Shipment& shipment) override { return to_->Ship(shipment); }
    void Close() override {}

   private:
    const std::shared_ptr<FakeSink> to_;
  };

  hbase::pb::PeerList List(std::uint64_t number, const std::vector<hbase::pb::ReplicationPeerDescription>& peers) {
    hbase::pb::PeerList list;
    list.set_epoch(1);
    list.set_number(number);
    for (const auto& peer : peers) *list.add_peer() = peer;
    return list;
  }

  SystemClock clock_;
  Logs logs_{kSelf};
  Logs dead_{kDead};
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  std::shared_ptr<FakePositions> positions_ = std::make_shared<FakePositions>();
  std::atomic<std::uint64_t> kept_from_{77};
  std::unique_ptr<Replicator> replicator_;
};

TEST_F(ReplicatorTest, EverythingIsKeptUntilTheFirstListHasCome) {
  EXPECT_EQ(kept_from_, 0U);
  replicator_->Look();
  EXPECT_EQ(kept_from_, 0U);
  replicator_->Take(List(1, {}));
  EXPECT_EQ(kept_from_, UINT64_MAX);
}

TEST_F(ReplicatorTest, AMasterWithoutPeersLetsGo) {
  replicator_->NoList();
  EXPECT_EQ(kept_from_, UINT64_MAX);
}

TEST_F(ReplicatorTest, LogsAreKeptForADisabledPeerFromTheFileThatIsWrittenThen) {
  replicator_->Take(List(1, {}));
  logs_.Write(EntryOf("before", 1));
  logs_.Roll();
  replicator_->Take(List(2, {PeerNamed("p", false)}));
  EXPECT_EQ(kept_from_, 2U);
  logs_.Write(EntryOf("r", 2));
  logs_.Roll();
  ASSERT_TRUE(Becomes([&] { return replicator_->Progress()[0].lag_ms() > 0; }));
  replicator_->Look();
  EXPECT_EQ(kept_from_, 2U);
  replicator_->Take(List(3, {PeerNamed("p", true)}));
  ASSERT_TRUE(sink_->AwaitRows(1));
  ASSERT_TRUE(Becomes([&] {
    replicator_->Look();
    return kept_from_ == 3U;
  }));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r=v"}));
  replicator_->Take(List(4, {}));
  EXPECT_EQ(kept_from_, UINT64_MAX);
}

// A server that joins: the peer is older than its first list, so all of its logs are the peer's.
TEST_F(ReplicatorTest, WhatWasWrittenBeforeTheFirstListIsShipped) {
  logs_.Write(EntryOf("r1", 1));
  logs_.Roll();
  logs_.Write(EntryOf("r2", 2));
  replicator_->Take(List(1, {PeerNamed("p")}));
  ASSERT_TRUE(sink_->AwaitRows(2));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r1=v", "r2=v"}));
}

TEST_F(ReplicatorTest, BeginningWithTheNewestFileIsNoticed) {
  const ScopedMutant mutant("replication.from_now");
  logs_.Write(EntryOf("r1", 1));
  logs_.Roll();
  logs_.Write(EntryOf("r2", 2));
  replicator_->Take(List(1, {PeerNamed("p")}));
  ASSERT_TRUE(sink_->AwaitRows(1));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r2=v"})) << "r1 is lost";
}

TEST_F(ReplicatorTest, KeepingNothingIsNoticed) {
  const ScopedMutant mutant("replication.keep_nothing");
  replicator_->Take(List(1, {PeerNamed("p", false)}));
  EXPECT_EQ(kept_from_, UINT64_MAX);
}

TEST_F(ReplicatorTest, AnOlderListIsPassedOver) {
  replicator_->Take(List(5, {PeerNamed("p")}));
  replicator_->Take(List(4, {}));
  EXPECT_EQ(replicator_->Progress().size(), 1U);
  hbase::pb::RegionServerReportRequest request;
  replicator_->Fill(request);
  EXPECT_EQ(request.peers_number(), 5U);
}

TEST_F(ReplicatorTest, AClaimedQueueIsShippedAndToldAsFinished) {
  dead_.Write(EntryOf("r", 2));
  ASSERT_TRUE(positions_->Write("p", kDead, {1, 0}).ok());
  auto list = List(1, {PeerNamed("p")});
  list.add_queue()->set_server(kDead);
  list.add_queue()->set_server("later,3,3");  // its logs are not moved yet
  replicator_->Take(list);
  replicator_->Look();
  const auto finished = [&](const std::string& server) {
    for (const auto& each : replicator_->Progress())
      if (each.peer().empty() && each.server() == server) return each.finished();
    return false;
  };
  ASSERT_TRUE(Becomes([&] { return finished(kDead); }));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r=v"}));
  EXPECT_FALSE(finished("later,3,3"));
  // Retired: the position goes too.
  replicator_->Take(List(2, {PeerNamed("p")}));
  ASSERT_TRUE(Becomes([&] {
    replicator_->Look();
    return !positions_->Read("p", kDead).value().has_value();
  }));
}

}  // namespace
}  // namespace ratchet::regionserver
