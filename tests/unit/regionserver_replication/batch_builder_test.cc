// From log entries to a peer's batches: selection, order, loops.
#include "regionserver/replication/batch_builder.h"

#include "common/base/mutant.h"
#include "common/model/cell_tags.h"
#include "common/model/replication_peer.h"
#include "tests/unit/regionserver_replication/replication_world.h"

namespace ratchet::regionserver {
namespace {

class BatchBuilderTest : public ::testing::Test {
 protected:
  std::vector<Shipment> Built(const std::vector<LogEntry>& entries) {
    BatchBuilder batch(peer_.config(), kOwnId);
    for (const LogEntry& entry : entries) batch.Add(entry);
    return batch.Take(kPeerId);
  }
  hbase::pb::ReplicationPeerDescription peer_ = PeerNamed("p");
};

TEST_F(BatchBuilderTest, TakesShippedFamiliesOnlyAndKeepsTimestamps) {
  LogEntry entry = EntryOf("r", 7);
  entry.cells.push_back({Cell{"r", "local", "q", 7, CellType::kPut, "x"}, {}});
  entry.cells.push_back({Cell{"r", "f", "", 6, CellType::kDeleteFamily, ""}, {}});
  const auto built = Built({entry});
  ASSERT_EQ(built.size(), 1U);
  EXPECT_EQ(built[0].table, TableName("default", "t"));
  ASSERT_EQ(built[0].mutations.size(), 2U);
  EXPECT_EQ(built[0].mutations[0].cells[0].timestamp, 7);
  EXPECT_EQ(built[0].mutations[1].kind, client::MutationKind::kDelete);
  EXPECT_EQ(built[0].mutations[1].cells[0].type, CellType::kDeleteFamily);
}

TEST_F(BatchBuilderTest, NothingWithoutAScope) {
  LogEntry entry = EntryOf("r", 7);
  entry.shipped = {};
  BatchBuilder batch(peer_.config(), kOwnId);
  batch.Add(entry);
  EXPECT_TRUE(batch.empty());
}

TEST_F(BatchBuilderTest, OfSeveralPutsOfOneCellTheLastCounts) {
  const auto built = Built({EntryOf("r", 7, "old"), EntryOf("s", 7), EntryOf("r", 7, "new")});
  ASSERT_EQ(built[0].mutations.size(), 2U);
  EXPECT_EQ(built[0].mutations[0].cells[0].value, "new");
}

TEST_F(BatchBuilderTest, TheLastPutOfACellBringsItsOwnTimeToLiveAndTags) {
  const auto put = [](const std::string& row, const std::string& value, std::int64_t ttl_ms) {
    LogEntry entry = EntryOf(row, 7, value);
    entry.cells.front().ttl_ms = ttl_ms;
    return entry;
  };
  const auto ttl_of = [](const client::Mutation& mutation) {
    for (const auto& [name, value] : mutation.attributes) {
      std::int64_t ttl_ms = 0;
      if (name == kTtlAttribute && DecodeInt64(value, ttl_ms)) return ttl_ms;
    }
    return std::int64_t{0};
  };
  LogEntry two = put("r", "old", 1'000);
  two.cells.push_back({Cell{"r", "f", "other", 7, CellType::kPut, "stays"}, 1'000});
  auto built = Built({two, put("s", "x", 1'000), put("r", "new", 50), put("r", "newest", 50)});
  ASSERT_EQ(built[0].mutations.size(), 3U);
  ASSERT_EQ(built[0].mutations[0].cells.size(), 1U);
  EXPECT_EQ(built[0].mutations[0].cells[0].value, "stays");
  EXPECT_EQ(ttl_of(built[0].mutations[0]), 1'000);
  EXPECT_EQ(built[0].mutations[2].cells[0].value, "newest");
  EXPECT_EQ(ttl_of(built[0].mutations[2]), 50);

  LogEntry tagged = EntryOf("r", 7, "tagged");
  tagged.cells.front().cell.tags = "tag";
  built = Built({put("r", "old", 1'000), tagged});
  ASSERT_EQ(built[0].mutations.size(), 1U) << "a mutation without cells is not shipped";
  EXPECT_EQ(ttl_of(built[0].mutations[0]), 0);
  built = Built({EntryOf("r", 7, "plain"), tagged});
  EXPECT_EQ(built[0].mutations[0].cells[0].tags, "tag");
}

TEST_F(BatchBuilderTest, WhatThePeerHasHadIsLeftOut) {
  LogEntry back = EntryOf("r", 7);
  back.shipped.cluster_ids = {kPeerId, "cluster-c"};
  LogEntry onward = EntryOf("s", 7);
  onward.shipped.cluster_ids = {"cluster-c"};
  const auto built = Built({back, onward});
  ASSERT_EQ(built.size(), 1U);
  ASSERT_EQ(built[0].mutations.size(), 1U);
  EXPECT_EQ(built[0].mutations[0].row, "s");
  EXPECT_EQ(built[0].mutations[0].attributes[0],
            (std::pair<std::string, std::string>(kClusterIdsAttribute, "cluster-c\ncluster-a")));
}

TEST_F(BatchBuilderTest, ShippingBackIsNoticed) {
  const ScopedMutant mutant("replication.ship_back");
  LogEntry back = EntryOf("r", 7);
  back.shipped.cluster_ids = {kPeerId};
  EXPECT_EQ(Built({back}).size(), 1U);
}

// The peer's address led back to this cluster, so its own writes have returned to it.
TEST_F(BatchBuilderTest, WhatHasPassedThisClusterIsNotShippedAgain) {
  LogEntry returned = EntryOf("r", 7);
  returned.shipped.cluster_ids = {kOwnId};
  BatchBuilder batch(peer_.config(), kOwnId);
  batch.Add(returned);
  EXPECT_TRUE(batch.Take(kPeerId).empty());
  EXPECT_EQ(batch.returned(), 1U);
}

TEST_F(BatchBuilderTest, ShippingReturnedWritesIsNoticed) {
  const ScopedMutant mutant("replication.ship_returned");
  LogEntry returned = EntryOf("r", 7);
  returned.shipped.cluster_ids = {kOwnId};
  EXPECT_EQ(Built({returned}).size(), 1U);
}

TEST(ShippedPartTest, SurvivesItsEncoding) {
  LogEntry entry = EntryOf("r", 7);
  entry.shipped.cluster_ids = {"x", "y"};
  std::string bytes;
  EncodeLogEntry(entry, bytes);
  EXPECT_EQ(DecodeLogEntry(bytes).value().shipped, entry.shipped);
  EXPECT_EQ(VersionOf(entry), kShippedEntryVersion);
  for (std::size_t cut = 1; cut < 12; ++cut)  // by twelve bytes it is an entry without this part
    EXPECT_FALSE(DecodeLogEntry(std::string_view(bytes).substr(0, bytes.size() - cut)).ok()) << cut;
}

TEST(LogPositionTest, IsReadBack) {
  EXPECT_EQ(ParseLogPosition(ToText({7, 4711})).value(), (LogPosition{7, 4711}));
  for (const char* bad : {"", "7", "7:", ":7", "a:b", "7:4711x"}) EXPECT_FALSE(ParseLogPosition(bad).ok()) << bad;
}

}  // namespace
}  // namespace ratchet::regionserver
