// Serial peers (S113: serial order of openings): the opening that the shipment of another one waits for, as a pure
// decision and in a source.
#include <filesystem>

#include "common/base/mutant.h"
#include "regionserver/replication/source.h"
#include "tests/unit/regionserver_replication/replication_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kHere = "here,1,1";
constexpr const char* kBefore = "before,1,1";

hbase::pb::ReplicationPeerDescription SerialPeer(bool serial = true) {
  auto peer = PeerNamed("p");
  peer.mutable_config()->set_serial(serial);
  return peer;
}

LogEntry MarkOf(bool opens, std::vector<QueuePoint> after = {}) {
  LogEntry entry;
  entry.region = "region";
  entry.sequence = 1;
  entry.shipped = {"t", {"f"}, {}, 1'000};
  entry.mark = OpeningMark{opens, std::move(after)};
  return entry;
}

TEST(SerialGateTest, APlaceIsPastWhenThePositionIsAtItOrBehindIt) {
  const QueuePoint place{kBefore, 3, 100};
  EXPECT_FALSE(IsPast(place, {}));
  EXPECT_FALSE(IsPast(place, {LogPosition{3, 99}, false}));
  EXPECT_FALSE(IsPast(place, {LogPosition{2, 5000}, false}));
  EXPECT_TRUE(IsPast(place, {LogPosition{3, 100}, false}));
  EXPECT_TRUE(IsPast(place, {LogPosition{4, 0}, false}));
}

// The end of a dead server is shown only by a position that reaches it, or by logs that are no longer kept.
TEST(SerialGateTest, TheEndIsPastWhenItIsKeptOrNothingIsThere) {
  const QueuePoint end{kBefore, kEndOfQueue, 0};
  EXPECT_FALSE(IsPast(end, {LogPosition{1'000'000, 0}, false}));
  EXPECT_TRUE(IsPast(end, {LogPosition{kEndOfQueue, 0}, false}));
  EXPECT_TRUE(IsPast(end, {std::nullopt, true}));
  EXPECT_TRUE(IsPast(end, {LogPosition{1, 0}, true}));
}

TEST(SerialGateTest, EveryEarlierOpeningCountsButThoseInTheSameLogs) {
  std::map<std::string, QueueProgress> standings{{"a", {LogPosition{9, 0}, false}}, {"b", {}}};
  const auto look = [&](const std::string& server) -> Result<QueueProgress> { return standings.at(server); };
  const std::vector<QueuePoint> after{{kHere, kEndOfQueue, 0}, {"a", 8, 1}, {"b", 1, 1}};
  const auto first = FirstNotShipped(after, kHere, look);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, after[2]);
  standings["b"].gone = true;
  EXPECT_FALSE(FirstNotShipped(after, kHere, look)->has_value());
  EXPECT_FALSE(FirstNotShipped({}, kHere, look)->has_value());
}

TEST(SerialGateTest, WhatCannotBeLookedUpIsAnError) {
  const auto look = [](const std::string&) -> Result<QueueProgress> { return Error(Code::kUnavailable, "no"); };
  EXPECT_FALSE(FirstNotShipped({{kBefore, 1, 1}}, kHere, look).ok());
}

TEST(SerialGateTest, LogsAreGoneWhenTheyAreInNoneOfTheirPlaces) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ratchet-turns-{:x}", RandomSeed());
  std::filesystem::create_directories(path);
  const auto root = io::PosixDisk().Open(path.string()).value();
  EXPECT_TRUE(LogsAreGone(*root, kBefore).value()) << "no folders at all";
  std::string last;
  for (const char* place : {"wals/before,1,1", "wals/before,1,1-splitting", "oldWALs/before,1,1"}) {
    std::filesystem::create_directories((path / place).parent_path());
    if (last.empty()) {
      std::filesystem::create_directories(path / place);
    } else {
      std::filesystem::rename(path / last, path / place);
    }
    last = place;
    EXPECT_FALSE(LogsAreGone(*root, kBefore).value()) << place;
  }
  std::filesystem::remove_all(path / last);
  EXPECT_TRUE(LogsAreGone(*root, kBefore).value());
  std::filesystem::remove_all(path);
}

TEST(MarkEntryTest, MarkIsReadAsItWasWritten) {
  const LogEntry entry = MarkOf(true, {{kBefore, 7, 4711}, {"other,2,2", kEndOfQueue, 0}});
  std::string bytes;
  EncodeLogEntry(entry, bytes);
  EXPECT_EQ(VersionOf(entry), kMarkEntryVersion);
  const auto read = DecodeLogEntry(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->mark, entry.mark);
  EXPECT_EQ(read->shipped, entry.shipped);
  for (std::size_t cut = 1; cut < 40; ++cut) {
    const auto part = DecodeLogEntry(std::string_view(bytes).substr(0, bytes.size() - cut));
    EXPECT_TRUE(!part.ok() || !part->mark) << cut;
  }
}

// A name becomes part of a path.
TEST(MarkEntryTest, NamesThatAreNoneAreRefused) {
  for (const char* name : {"", "..", ".x", "a/b"}) {
    std::string bytes;
    EncodeLogEntry(MarkOf(true, {{name, 1, 1}}), bytes);
    EXPECT_FALSE(DecodeLogEntry(bytes).ok()) << name;
  }
}

class SerialSourceTest : public ::testing::Test {
 protected:
  void Begin(bool serial = true) { Begin(SerialPeer(serial)); }
  void Begin(const hbase::pb::ReplicationPeerDescription& peer) {
    ReplicationSource::Parts parts;
    parts.peer = "p";
    parts.own_id = kOwnId;
    parts.queue = logs_.Live();
    parts.start = LogPosition{};
    parts.sink = sink_;
    parts.positions = positions_;
    parts.may_ship = [this]() -> Status { return fenced_ ? Status(Error(Code::kFenced, "fenced")) : Ok(); };
    parts.logs_are_gone = [this](const std::string& /*server*/) -> Result<bool> { return gone_.load(); };
    parts.clock = &clock_;
    source_ = std::make_unique<ReplicationSource>(std::move(parts), peer, Quick());
  }
  void TearDown() override {
    sink_->Close();
    source_.reset();
  }
  // "moved" was written by an opening that follows one in the other server's logs.
  void WriteAnOpening() {
    logs_.Write(EntryOf("first", 1));
    logs_.Write(MarkOf(true, {{kBefore, 2, 50}}));
    logs_.Write(EntryOf("moved", 2));
  }
  [[nodiscard]] bool AwaitWaiting() {
    return Becomes([&] {
      return source_->waits() && source_->Progress().waits_for_region() == "region" &&
             source_->Progress().waits_for_server() == kBefore && source_->Progress().lag_ms() > 0;
    });
  }

  SystemClock clock_;
  Logs logs_{kHere};
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  std::shared_ptr<FakePositions> positions_ = std::make_shared<FakePositions>();
  std::atomic<bool> gone_{false};
  std::atomic<bool> fenced_{false};
  std::unique_ptr<ReplicationSource> source_;
};

TEST_F(SerialSourceTest, OpeningWaitsForEarlierOpenings) {
  WriteAnOpening();
  Begin();
  ASSERT_TRUE(AwaitWaiting());
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"first=v"}));
  ASSERT_TRUE(positions_->Write("p", kBefore, {2, 50}).ok());
  ASSERT_TRUE(sink_->AwaitRows(2));
  EXPECT_TRUE(Becomes([&] { return source_->Progress().waits_for_region().empty() && !source_->waits(); }));
}

TEST_F(SerialSourceTest, NotWaitingIsNoticed) {
  const ScopedMutant mutant("replication.any_order");
  WriteAnOpening();
  Begin();
  ASSERT_TRUE(sink_->AwaitRows(2)) << "shipped before the opening that it comes after";
}

TEST_F(SerialSourceTest, NothingWaitsForLogsThatAreGone) {
  WriteAnOpening();
  Begin();
  ASSERT_TRUE(AwaitWaiting());
  gone_ = true;
  ASSERT_TRUE(sink_->AwaitRows(2));
}

TEST_F(SerialSourceTest, OthersDoNotWait) {
  WriteAnOpening();
  Begin(/*serial=*/false);
  ASSERT_TRUE(sink_->AwaitRows(2));
}

TEST_F(SerialSourceTest, AnOpeningOfATableThatIsNotShippedHoldsNothingUp) {
  LogEntry opening = MarkOf(true, {{kBefore, 2, 50}});
  opening.shipped.table = "ns:excluded";
  logs_.Write(opening);
  logs_.Write(EntryOf("other", 1));
  auto peer = SerialPeer();
  peer.mutable_config()->add_exclude_namespaces("ns");
  Begin(peer);
  ASSERT_TRUE(sink_->AwaitRows(1));
}

TEST_F(SerialSourceTest, APeerThatIsSerialNoMoreWaitsNoMore) {
  WriteAnOpening();
  Begin();
  ASSERT_TRUE(AwaitWaiting());
  source_->Update(SerialPeer(false));
  ASSERT_TRUE(sink_->AwaitRows(2));
}

// Others wait for it: kept at once, although nothing is shipped.
TEST_F(SerialSourceTest, TheEndOfAnOpeningIsKept) {
  logs_.Write(MarkOf(true));
  logs_.Write(MarkOf(false));
  LogPosition end;
  end.file = 1;
  end.offset = logs_.Live().files().value().back().bytes;
  Begin();
  EXPECT_TRUE(positions_->Await("p", kHere, end));
}

// Another one ships its logs.
TEST_F(SerialSourceTest, AFencedServerShipsNothing) {
  fenced_ = true;
  logs_.Write(EntryOf("late", 1));
  Begin();
  ASSERT_TRUE(Becomes([&] { return source_->Progress().error().find("fenced") != std::string::npos; }));
  EXPECT_TRUE(sink_->rows().empty());
}

// Writes from another cluster between two writes of this one are shipped between them.
TEST_F(SerialSourceTest, WritesThatHavePassedOtherClustersKeepTheirPlace) {
  logs_.Write(EntryOf("r", 1, "a"));
  LogEntry passed = EntryOf("r", 1, "b");
  passed.shipped.cluster_ids = {"0-elsewhere"};
  logs_.Write(passed);
  logs_.Write(EntryOf("r", 1, "c"));
  Begin();
  ASSERT_TRUE(sink_->AwaitRows(3));
  EXPECT_EQ(sink_->rows(), (std::vector<std::string>{"r=a", "r=b", "r=c"}));
}

}  // namespace
}  // namespace ratchet::regionserver
