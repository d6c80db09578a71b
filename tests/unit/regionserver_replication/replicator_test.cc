// A server's sources follow the master's list; which logs are kept.
#include "regionserver/replication/replicator.h"

#include <algorithm>
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
  // Many sources, one sink that the test inspects.
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
  // Retired: the position is removed too.
  replicator_->Take(List(2, {PeerNamed("p")}));
  ASSERT_TRUE(Becomes([&] {
    replicator_->Look();
    return !positions_->Read("p", kDead).value().has_value();
  }));
}

// Logs that wait for others use no slot (S113: serial order of openings): otherwise the others would never be begun if
// as many logs wait as there are slots.
class WaitingQueuesTest : public ReplicatorTest {
 protected:
  void WriteKept(const std::string& server, const std::vector<LogEntry>& entries) {
    auto kept = dead_.root().OpenDir(kKeptLogsFolder).value();
    ASSERT_TRUE(kept->MakeDir(server).ok());
    const std::string name = "log.0000000001";
    io::RecordWriter writer(kept->OpenDir(server).value()->Create(name).value(),
                            io::LogIdentity{kServerLogKind, io::LogFileId(server + "/" + name)});
    std::uint64_t records = 0;
    for (const LogEntry& entry : entries) {
      std::string bytes;
      EncodeLogEntry(entry, bytes);
      ASSERT_TRUE(writer.Add(kEntryRecordType, VersionOf(entry), ++records, bytes).ok());
    }
    ASSERT_TRUE(writer.Sync().ok());
  }
  // The logs of six dead servers. The first five had the region after the sixth, which is the last one by name.
  void ClaimAll() {
    auto peer = PeerNamed("p");
    peer.mutable_config()->set_serial(true);
    auto list = List(1, {peer});
    for (const char* server : {"b,1,1", "c,1,1", "d,1,1", "e,1,1", "f,1,1"}) {
      LogEntry opening;
      opening.region = "region";
      opening.sequence = 1;
      opening.shipped = {"t", {"f"}, {}, 1'000};
      opening.mark = OpeningMark{true, {{"z,1,1", kEndOfQueue, 0}}};
      WriteKept(server, {opening, EntryOf(server, 1)});
      list.add_queue()->set_server(server);
    }
    WriteKept("z,1,1", {EntryOf("z,1,1", 1)});
    list.add_queue()->set_server("z,1,1");
    replicator_->Take(list);
  }
  [[nodiscard]] std::size_t Sources() {
    const auto all = replicator_->Progress();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& each) { return !each.peer().empty(); }));
  }
  [[nodiscard]] std::size_t Waiting() {
    const auto all = replicator_->Progress();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& each) { return !each.waits_for_region().empty(); }));
  }
};

TEST_F(WaitingQueuesTest, WhatTheyWaitForHasItsTurn) {
  ClaimAll();
  ASSERT_TRUE(Becomes([&] {
    replicator_->Look();
    return sink_->rows().size() == 6;
  }));
  EXPECT_EQ(sink_->rows().front(), "z,1,1=v");
}

TEST_F(WaitingQueuesTest, CountingThemIsNoticed) {
  const ScopedMutant mutant("replication.waiting_counts");
  ClaimAll();
  ASSERT_TRUE(Becomes([&] {
    replicator_->Look();
    return Waiting() == Replicator::kQueuesAtOnce;
  }));
  for (int i = 0; i < 10; ++i) replicator_->Look();
  EXPECT_EQ(Sources(), 1 + Replicator::kQueuesAtOnce) << "its own, and those that wait without end";
  EXPECT_TRUE(sink_->rows().empty());
}

}  // namespace
}  // namespace ratchet::regionserver
