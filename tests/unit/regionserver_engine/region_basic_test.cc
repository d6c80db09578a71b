// Open, write, read, flush, close, crash, recover: the plain path, once each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Rows(const std::vector<Cell>& cells) {
  std::vector<std::string> rows;
  for (const Cell& cell : cells)
    if (rows.empty() || rows.back() != cell.row) rows.push_back(cell.row);
  return rows;
}

class RegionBasicTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 1).value();
  }
  void Write(AtomicMutation mutation) {
    auto answer = world.Mutate(*server->region, std::move(mutation));
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->ok()) << answer->error().ToString();
  }
  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(RegionBasicTest, WhatWasWrittenIsReadFromMemoryAndFromFiles) {
  Write(Put("r1", "q", "one"));
  Write(Put("r2", "q", "two"));
  EXPECT_EQ(world.Read(*server->region, "r1", "q").value(), "one");
  server->region->Flush().value();
  EXPECT_EQ(server->region->GetStatus().store_files, 1U);
  EXPECT_EQ(server->region->GetStatus().memstore_bytes, 0U);
  EXPECT_EQ(world.Read(*server->region, "r1", "q").value(), "one");
  Write(Put("r1", "q", "three"));
  EXPECT_EQ(world.Read(*server->region, "r1", "q").value(), "three");
  EXPECT_EQ(world.Read(*server->region, "r3", "q").value(), "");
}

TEST_F(RegionBasicTest, TableAndFamilySayHowManyFilesACompactionNeeds) {
  using Settings = std::vector<std::pair<const char*, const char*>>;
  const auto files_after = [this](const Settings& of_table, const Settings& of_family, std::uint64_t opening,
                                  int flushes = 3) {
    world.table.attributes = {};
    for (const auto& [key, value] : of_table) world.table.attributes[key] = value;
    for (FamilyDescriptor& family : world.table.families) {
      family.attributes.erase("hbase.hstore.compaction.min");
      for (const auto& [key, value] : of_family) family.attributes[key] = value;
    }
    server->region->Flush().value();
    server->region->Abandon();
    world.OpenRegion(*server, opening).value();
    server->region->Compact(true).value();
    for (int i = 0; i < flushes; ++i) {
      Write(Put("r" + std::to_string(i), "q", "v"));
      server->region->Flush().value();
    }
    server->region->Compact(false).value();
    return server->region->GetStatus().store_files;
  };
  Write(Put("r", "q", "v"));
  EXPECT_EQ(files_after({{"hbase.hstore.compaction.min", "5"}}, {}, 2), 4U);
  EXPECT_EQ(files_after({{"hbase.hstore.compaction.min", "4"}}, {}, 3), 1U);
  EXPECT_EQ(files_after({{"hbase.hstore.compaction.min", "9"}}, {{"hbase.hstore.compaction.min", "2"}}, 4), 1U);
  EXPECT_EQ(files_after({{"hbase.hstore.compactionThreshold", "9"}}, {}, 5), 4U);
  EXPECT_EQ(files_after({{"hbase.hstore.compaction.min", "many"}}, {}, 6), 1U) << "no number: the server's own, 4";
  EXPECT_EQ(files_after({{"hbase.hstore.compaction.min", "14"}}, {}, 7, 13), 1U) << "more than are merged otherwise";
}

TEST_F(RegionBasicTest, AScanRepeatsTheViewOfAnEarlierOne) {
  Write(Put("r1", "q", "one", 100));
  ScanSpec earlier;
  earlier.read_point = server->region->Scan({}).value()->read_point();
  Write(Put("r1", "q", "two", 200));
  Write(Put("r2", "q", "two", 200));
  for (const bool flushed : {false, true}) {
    const auto then = world.ScanAll(*server->region, earlier).value();
    ASSERT_EQ(then.size(), 1U) << flushed;
    EXPECT_EQ(then.front().value, "one");
    EXPECT_EQ(world.ScanAll(*server->region).value().size(), 2U);
    server->region->Flush().value();
  }
  // A time that is not readable yet cannot be requested either.
  ScanSpec future;
  future.read_point = UINT64_MAX;
  EXPECT_EQ(world.ScanAll(*server->region, future).value().size(), 2U);
}

TEST_F(RegionBasicTest, AllMemstoresOfAServerAreBoundedTogether) {
  auto budget = std::make_shared<MemstoreBudget>();
  budget->limit = 20'000;
  budget->flush_at = 10'000;
  int asked = 0;
  budget->make_room = [&asked] { ++asked; };
  world.settings.budget = budget;
  world.OpenRegion(*server, 2).value();
  const std::string value(1'000, 'v');
  std::uint64_t used_when_asked = 0;
  std::optional<Result<MutationResult>> refused;
  for (int i = 0; i < 100; ++i) {
    auto answer = world.Mutate(*server->region, Put("r" + std::to_string(i), "q", value));
    ASSERT_TRUE(answer.has_value());
    if (asked == 1) used_when_asked = budget->used;
    if (!answer->ok()) {
      refused = std::move(answer);
      break;
    }
  }
  ASSERT_TRUE(refused.has_value()) << "nothing was refused";
  EXPECT_EQ(refused->error().remote_class(), "org.apache.hadoop.hbase.RegionTooBusyException");
  EXPECT_GT(budget->used.load(), budget->limit);
  EXPECT_LT(budget->used.load(), budget->limit + 2'000);
  EXPECT_GT(used_when_asked, budget->flush_at);
  EXPECT_LT(used_when_asked, budget->limit);
  // A reader of the old memstore does not block writers.
  const auto reader = server->region->Scan({}).value();
  server->region->Flush().value();
  EXPECT_EQ(budget->used.load(), 0U);
  Write(Put("again", "q", value));
  EXPECT_GT(budget->used.load(), 1'000U);
  server->region.reset();
}

TEST_F(RegionBasicTest, ScansGoBothWaysWithinBounds) {
  for (const char* row : {"a", "b", "c", "d", "e"}) Write(Put(row, "q", row));
  server->region->Flush().value();
  Write(Put("bb", "q", "x"));
  EXPECT_THAT(Rows(world.ScanAll(*server->region).value()), ElementsAre("a", "b", "bb", "c", "d", "e"));
  ScanSpec spec;
  spec.start_row = "b";
  spec.stop_row = "d";
  EXPECT_THAT(Rows(world.ScanAll(*server->region, spec).value()), ElementsAre("b", "bb", "c"));
  spec.include_start_row = false;
  spec.include_stop_row = true;
  EXPECT_THAT(Rows(world.ScanAll(*server->region, spec).value()), ElementsAre("bb", "c", "d"));
  ScanSpec back;
  back.reversed = true;
  EXPECT_THAT(Rows(world.ScanAll(*server->region, back).value()), ElementsAre("e", "d", "c", "bb", "b", "a"));
  back.start_row = "d";
  back.stop_row = "b";
  EXPECT_THAT(Rows(world.ScanAll(*server->region, back).value()), ElementsAre("d", "c", "bb"));
}

TEST_F(RegionBasicTest, ACloseMovesEverythingToTheNextOpening) {
  Write(Put("r1", "q", "one"));
  server->region->Close().value();
  EXPECT_EQ(world.Read(*server->region, "r1", "q").error().remote_class(),
            "org.apache.hadoop.hbase.NotServingRegionException");
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  EXPECT_EQ(world.Read(*next->region, "r1", "q").value(), "one");
  EXPECT_GT(next->region->first_sequence(), server->region->first_sequence());
}

TEST_F(RegionBasicTest, TheTimeOfTheLastMajorCompactionIsKeptAcrossOpenings) {
  Write(Put("r1", "q", "one"));
  server->region->Flush().value();
  Write(Put("r2", "q", "two"));
  EXPECT_EQ(server->region->GetStatus().oldest_major_ms, 0) << "two flushes, no compaction";
  server->region->Compact(false).value();
  EXPECT_EQ(server->region->GetStatus().oldest_major_ms, 0) << "a minor compaction does not count";
  server->region->Compact(true).value();
  const std::int64_t first = server->region->GetStatus().oldest_major_ms;
  EXPECT_GT(first, 0);
  Write(Put("r3", "q", "three"));
  server->region->Flush().value();
  EXPECT_EQ(server->region->GetStatus().oldest_major_ms, first) << "the file of the flush has none";
  server->region->Close().value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  EXPECT_EQ(next->region->GetStatus().oldest_major_ms, first);
}

TEST_F(RegionBasicTest, ADeadServersWritesComeBackThroughItsLog) {
  Write(Put("r1", "q", "one"));
  server->region->Flush().value();
  Write(Put("r2", "q", "two"));
  world.disk.PowerFailure();
  server.reset();
  world.Recover("a,1,1").value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  EXPECT_EQ(world.Read(*next->region, "r1", "q").value(), "one");
  EXPECT_EQ(world.Read(*next->region, "r2", "q").value(), "two");
}

TEST_F(RegionBasicTest, AFencedServerAnswersNothing) {
  Write(Put("r1", "q", "one"));
  ASSERT_TRUE(world.FenceAndSeal("a,1,1").ok());
  auto answer = world.Mutate(*server->region, Put("r1", "q", "late"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->ok());
  EXPECT_FALSE(server->region->CheckServing().ok());
  EXPECT_FALSE(server->region->Flush().ok());
}

TEST_F(RegionBasicTest, WrongRequestsAreRefusedByName) {
  AtomicMutation unknown = Put("r", "q", "v");
  unknown.mutations[0].cells[0].family = "nope";
  EXPECT_EQ((*world.Mutate(*server->region, unknown)).error().remote_class(),
            "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
  GetSpec get;
  get.row = "r";
  get.columns["nope"];
  EXPECT_EQ(server->region->Get(get).error().remote_class(),
            "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
}

// HBase's client finds a column of a result by binary search.
TEST_F(RegionBasicTest, TheResultOfAnIncrementIsInTheOrderOfColumns) {
  AtomicMutation unit = Increment("r", "b", 1);
  Mutation& mutation = unit.mutations[0];
  for (const auto& [family, qualifier] : {std::pair("g", "x"), std::pair("f", "a"), std::pair("f", "b")}) {
    mutation.cells.push_back(Cell{"r", family, qualifier, kLatestTimestamp, CellType::kPut, EncodeInt64(2)});
  }
  mutation.nonce = Nonce{7, 8, std::nullopt};
  for (const char* time : {"first", "again"}) {
    const MutationResult result = world.Mutate(*server->region, unit).value().value();
    std::string columns;
    for (const Cell& cell : result.results.front()) columns += cell.family + ":" + cell.qualifier + " ";
    EXPECT_EQ(columns, "f:a f:b g:x ") << time;
  }
}

TEST(ReadOnlyTest, ATableThatIsReadOnlyTakesNoWrites) {
  EngineWorld world;
  world.Format().value();
  auto first = world.Start("a,1,1").value();
  world.OpenRegion(*first, 1).value();
  ASSERT_TRUE(world.Mutate(*first->region, Put("r", "q", "v")).value().ok());
  first->region->Close().value();
  world.table.attributes["READONLY"] = "true";
  auto second = world.Start("a,1,2").value();
  world.OpenRegion(*second, 2).value();
  std::vector<AtomicMutation> units = {Put("r", "q", "w"), DeleteRow("r"), Increment("r", "n", 1),
                                       Append("r", "q", "w")};
  for (AtomicMutation& unit : units) {
    const auto refused = world.Mutate(*second->region, std::move(unit)).value();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().remote_class(), "org.apache.hadoop.hbase.DoNotRetryIOException");
    EXPECT_EQ(refused.error().message().find("region is read only"), 0U);
  }
  EXPECT_EQ(world.Read(*second->region, "r", "q").value(), "v");
}

}  // namespace
}  // namespace ratchet::regionserver
