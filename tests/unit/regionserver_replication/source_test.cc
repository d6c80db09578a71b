// One source: in order, at least once, whatever fails.
#include "regionserver/replication/source.h"

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/regionserver_replication/replication_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kServer = "a,1,1";

class SourceTest : public ::testing::Test {
 protected:
  void Begin(std::optional<LogPosition> start = LogPosition{}, LogQueue queue = {}, bool enabled = true) {
    ReplicationSource::Parts parts;
    parts.peer = "p";
    parts.own_id = kOwnId;
    parts.queue = queue.files ? std::move(queue) : logs_.Live();
    parts.start = start;
    parts.sink = sink_;
    parts.positions = positions_;
    parts.clock = &clock_;
    source_ = std::make_unique<ReplicationSource>(std::move(parts), PeerNamed("p", enabled), Quick());
  }
  void TearDown() override {
    sink_->Close();
    source_.reset();
  }

  SystemClock clock_;
  Logs logs_{kServer};
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  std::shared_ptr<FakePositions> positions_ = std::make_shared<FakePositions>();
  std::unique_ptr<ReplicationSource> source_;
};

TEST_F(SourceTest, ShipsInOrderOverSeveralFilesAndGoesOn) {
  logs_.Write(EntryOf("r1", 1));
  logs_.Roll();
  logs_.Write(EntryOf("r2", 2));
  Begin();
  ASSERT_TRUE(sink_->AwaitRows(2));
  logs_.Write(EntryOf("r3", 3));
  logs_.Roll();
  logs_.Write(EntryOf("r4", 4));
  ASSERT_TRUE(sink_->AwaitRows(4));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r1=v", "r2=v", "r3=v", "r4=v"}));
  ASSERT_TRUE(positions_->Await("p", kServer, {3, 33}));
  EXPECT_TRUE(Becomes([&] { return source_->needed_from() == 3; }));
  EXPECT_TRUE(Becomes([&] { return source_->Progress().lag_ms() == 0; }));
}

TEST_F(SourceTest, WhatFailsIsShippedAgain) {
  logs_.Write(EntryOf("r1", 1));
  sink_->FailTheNext(3);
  Begin();
  ASSERT_TRUE(sink_->AwaitRows(1));
  EXPECT_EQ(sink_->rows().size(), 1U);
}

TEST_F(SourceTest, MovingFirstIsNoticed) {
  const ScopedMutant mutant("replication.move_first");
  logs_.Write(EntryOf("r1", 1));
  sink_->FailTheNext(1);
  Begin();
  ASSERT_TRUE(sink_->AwaitCalls(1));
  logs_.Write(EntryOf("r2", 2));
  ASSERT_TRUE(sink_->AwaitRows(1));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r2=v"})) << "r1 is lost";
}

TEST_F(SourceTest, ADisabledPeerGetsNothingAndItsLogsAreKept) {
  logs_.Write(EntryOf("r1", 1));
  logs_.Roll();
  Begin(LogPosition{}, {}, /*enabled=*/false);
  ASSERT_TRUE(Becomes([&] { return source_->Progress().lag_ms() > 0; }));
  EXPECT_LE(source_->needed_from(), 1U);
  EXPECT_TRUE(sink_->rows().empty());
  source_->Update(PeerNamed("p", true));
  ASSERT_TRUE(sink_->AwaitRows(1));
}

// A claimer continues at the position of the dead server's own source; without a position it ships everything.
TEST_F(SourceTest, ADeadServersLogsAreShippedToTheirEnd) {
  logs_.Write(EntryOf("r1", 1));
  logs_.Roll();
  logs_.Write(EntryOf("r2", 2));
  ASSERT_TRUE(positions_->Write("p", kServer, {2, 0}).ok());
  auto kept = logs_.root().OpenDir(kKeptLogsFolder).value();
  std::shared_ptr<io::Directory> directory = kept->OpenDir(kServer).value();
  Begin(std::nullopt, QueueOfDead(kServer, directory));
  ASSERT_TRUE(Becomes([&] { return source_->finished(); }));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r2=v"}));
  source_.reset();
  ASSERT_TRUE(positions_->Forget("p", kServer).ok());
  Begin(std::nullopt, QueueOfDead(kServer, directory));
  ASSERT_TRUE(Becomes([&] { return source_->finished(); }));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r2=v", "r1=v", "r2=v"}));
}

TEST_F(SourceTest, APeerThatIsThisClusterGetsNothing) {
  sink_->id = kOwnId;
  logs_.Write(EntryOf("r1", 1));
  Begin();
  ASSERT_TRUE(Becomes([&] { return source_->Progress().error().find("this cluster itself") != std::string::npos; }));
  EXPECT_TRUE(sink_->rows().empty());
}

// No server claimed the logs of a server that died with nothing left to ship.
TEST_F(SourceTest, PositionsOfServersWhoseLogsAreGoneAreRemoved) {
  for (const char* server : {"gone,2,2", "kept,3,3", kServer}) ASSERT_TRUE(positions_->Write("p", server, {1, 1}).ok());
  ASSERT_TRUE(positions_->Write("q", "gone,2,2", {1, 1}).ok());
  SourceOptions options = Quick();
  options.sweep_every = Millis(0);
  ReplicationSource::Parts parts;
  parts.peer = "p";
  parts.own_id = kOwnId;
  parts.queue = logs_.Live();
  parts.start = LogPosition{};
  parts.sink = sink_;
  parts.positions = positions_;
  parts.logs_are_gone = [](const std::string& server) -> Result<bool> { return server == "gone,2,2"; };
  parts.clock = &clock_;
  logs_.Write(EntryOf("r1", 1));
  source_ = std::make_unique<ReplicationSource>(std::move(parts), PeerNamed("p"), options);
  ASSERT_TRUE(Becomes([&] { return !positions_->Has("p", "gone,2,2"); }));
  EXPECT_TRUE(positions_->Has("p", "kept,3,3"));
  EXPECT_TRUE(positions_->Has("p", kServer));
  EXPECT_TRUE(positions_->Has("q", "gone,2,2")) << "another peer's source does that";
}

// The identity is requested before each batch.
TEST_F(SourceTest, APeerThatBecomesThisClusterGetsNothingMore) {
  logs_.Write(EntryOf("r1", 1));
  Begin();
  ASSERT_TRUE(sink_->AwaitRows(1));
  sink_->LeadTo(kOwnId);
  logs_.Write(EntryOf("r2", 2));
  ASSERT_TRUE(Becomes([&] { return source_->Progress().error().find("this cluster itself") != std::string::npos; }));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r1=v"}));
  sink_->LeadTo(kPeerId);
  ASSERT_TRUE(sink_->AwaitRows(2));
}

// Returns true if the source stopped shipping after another server had claimed its logs.
bool StopsForAClaimer(Logs& logs, FakeSink& sink, FakePositions& positions, ReplicationSource& source) {
  positions.SetClaimedByAnother(true);
  logs.Write(EntryOf("r2", 2));  // in flight while the claim is found
  if (!Becomes([&] { return source.lost() || sink.rows().size() >= 2; })) return false;
  logs.Write(EntryOf("r3", 3));
  // A second log shows that the thread has run.
  return Becomes([&] { return source.lost() || sink.rows().size() >= 3; }) && sink.rows().size() < 3;
}

TEST_F(SourceTest, NothingIsShippedOnceAnotherServerHasClaimedTheLogs) {
  logs_.Write(EntryOf("r1", 1));
  Begin();
  ASSERT_TRUE(positions_->Await("p", kServer, {1, 1}));
  EXPECT_TRUE(StopsForAClaimer(logs_, *sink_, *positions_, *source_));
  EXPECT_NE(source_->Progress().error().find("another server"), std::string::npos) << source_->Progress().error();
  EXPECT_FALSE(source_->finished());
  source_->RequestStop(/*forget=*/true);
  ASSERT_TRUE(Becomes([&] { return source_->ended(); }));
  EXPECT_TRUE(positions_->Has("p", kServer)) << "the position is the claimer's";
}

TEST_F(SourceTest, ShippingOnIsNoticed) {
  const ScopedMutant mutant("replication.ship_on");
  logs_.Write(EntryOf("r1", 1));
  Begin();
  ASSERT_TRUE(positions_->Await("p", kServer, {1, 1}));
  EXPECT_FALSE(StopsForAClaimer(logs_, *sink_, *positions_, *source_));
}

}  // namespace
}  // namespace ratchet::regionserver
