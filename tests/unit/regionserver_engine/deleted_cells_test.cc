// Deleted cells: raw reads, which show all stored cells, and families that keep deleted cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string_view KindText(CellType type) {
  switch (type) {
    case CellType::kPut: return "put";
    case CellType::kDelete: return "delete";
    case CellType::kDeleteFamilyVersion: return "delete-family-version";
    case CellType::kDeleteColumn: return "delete-column";
    case CellType::kDeleteFamily: return "delete-family";
  }
  return "?";
}

class DeletedCellsTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
  void Open(const std::string& keep, int versions, int min_versions = 0, int ttl_seconds = 0) {
    for (FamilyDescriptor& family : world_.table.families) {
      family.attributes["KEEP_DELETED_CELLS"] = keep;
      family.attributes["VERSIONS"] = std::to_string(versions);
      family.attributes["MIN_VERSIONS"] = std::to_string(min_versions);
      if (ttl_seconds > 0) family.attributes["TTL"] = std::to_string(ttl_seconds);
    }
    world_.Format().value();
    server_ = std::move(world_.Start("a,1,1")).value();
    world_.OpenRegion(*server_, 1).value();
  }
  void Apply(AtomicMutation mutation) {
    const auto answer = world_.Mutate(*server_->region, std::move(mutation));
    ASSERT_TRUE(answer && answer->ok());
  }
  void Flush() { server_->region->Flush().value(); }
  void Major() { server_->region->Compact(true).value(); }
  static std::vector<std::string> Text(const std::vector<Cell>& cells) {
    std::vector<std::string> lines;
    for (const Cell& cell : cells)
      lines.push_back(
          fmt::format("{}:{}@{} {} {}", cell.row, cell.qualifier, cell.timestamp, KindText(cell.type), cell.value));
    return lines;
  }
  std::vector<std::string> Raw(ScanSpec scan = {}) {
    scan.raw = true;
    if (scan.max_versions == 1) scan.max_versions = 100;
    return Text(world_.ScanAll(*server_->region, scan, 2).value());
  }
  std::vector<std::string> Seen(TimeRange range = {}) {
    ScanSpec scan;
    scan.max_versions = 100;
    scan.time_range = range;
    return Text(world_.ScanAll(*server_->region, scan, 2).value());
  }

  EngineWorld world_;
  std::unique_ptr<Server> server_;
};

TEST_F(DeletedCellsTest, ARawScanShowsMarkersBeforeThePutsThatTheyHide) {
  Open("FALSE", 1);
  for (int time = 1; time <= 3; ++time) Apply(Put("r", "q", fmt::format("v{}", time), time));
  Apply(Delete("r", "q", CellType::kDelete, 3));
  Flush();
  Apply(Delete("r", "q", CellType::kDeleteColumn, 2));
  Apply(Delete("r", "", CellType::kDeleteFamily, 1));
  Apply(Delete("r", "", CellType::kDeleteFamilyVersion, 3));
  EXPECT_THAT(Seen(), IsEmpty());
  const std::vector<std::string> all = {
      "r:@3 delete-family-version ", "r:@1 delete-family ", "r:q@3 delete ", "r:q@3 put v3",
      "r:q@2 delete-column ",        "r:q@2 put v2",        "r:q@1 put v1"};
  EXPECT_EQ(Raw(), all);
  server_->region->Compact(false).value();
  EXPECT_EQ(Raw(), all);
  ScanSpec backwards;
  backwards.reversed = true;
  EXPECT_EQ(Raw(backwards), all);
  Major();
  EXPECT_THAT(Raw(), IsEmpty());
}

TEST_F(DeletedCellsTest, ARawScanGoesByItsOwnVersionsAndTimesOnly) {
  Open("FALSE", 1, 0, 1);
  for (int time = 1; time <= 3; ++time) Apply(Put("r", "q", fmt::format("v{}", time), time));
  Apply(Put("r", "q", "again", 3));
  Apply(Delete("r", "q", CellType::kDelete, 2));
  world_.time.Advance(Millis(5'000));
  EXPECT_THAT(Seen(), IsEmpty()) << "expired";
  ScanSpec two;
  two.max_versions = 2;
  EXPECT_THAT(Raw(two), ElementsAre("r:q@3 put again", "r:q@2 delete ", "r:q@2 put v2"));
  ScanSpec range;
  range.time_range = {1, 3};
  EXPECT_THAT(Raw(range), ElementsAre("r:q@2 delete ", "r:q@2 put v2", "r:q@1 put v1"));
  ScanSpec limited;
  limited.store_limit = 2;
  limited.store_offset = 1;
  EXPECT_THAT(Raw(limited), ElementsAre("r:q@2 delete ", "r:q@2 put v2"));
}

TEST_F(DeletedCellsTest, KeptCellsAreVisibleBeforeTheMarker) {
  Open("TRUE", 3);
  Apply(Put("r", "q", "v1", 1));
  Apply(Put("r", "q", "v2", 2));
  Apply(Delete("r", "q", CellType::kDeleteColumn, 3));
  for (const bool compacted : {false, true}) {
    SCOPED_TRACE(compacted);
    if (compacted) Major();
    EXPECT_THAT(Seen(), IsEmpty());
    EXPECT_THAT(Seen({0, 3}), ElementsAre("r:q@2 put v2", "r:q@1 put v1"));
    EXPECT_THAT(Raw(), ElementsAre("r:q@3 delete-column ", "r:q@2 put v2", "r:q@1 put v1"));
  }
}

TEST_F(DeletedCellsTest, KeptOnesCountAsVersions) {
  Open("TRUE", 2);
  Apply(Put("r", "q", "v1", 1));
  Apply(Put("r", "q", "v2", 2));
  Apply(Delete("r", "q", CellType::kDelete, 2));
  Apply(Put("r", "q", "v3", 3));
  Apply(Delete("r", "q", CellType::kDeleteColumn, 1));
  for (const bool compacted : {false, true}) {
    SCOPED_TRACE(compacted);
    if (compacted) Major();
    EXPECT_THAT(Seen(), ElementsAre("r:q@3 put v3"));
    EXPECT_THAT(Seen({0, 2}), IsEmpty()) << "v1 is the third version of two";
  }
  EXPECT_THAT(Raw(), ElementsAre("r:q@3 put v3", "r:q@2 delete ", "r:q@2 put v2"))
      << "a marker that nothing is behind went with them";
}

TEST_F(DeletedCellsTest, KeptUntilTheyExpire) {
  Open("TTL", 3, 1, 1);
  const std::int64_t begin = world_.time.WallMillis();
  Apply(Put("r", "q", "v", begin));
  Apply(Delete("r", "q", CellType::kDelete, begin));
  Apply(Put("r", "other", "w", begin));
  Major();
  EXPECT_THAT(Raw(), ElementsAre(fmt::format("r:other@{} put w", begin), fmt::format("r:q@{} delete ", begin),
                                 fmt::format("r:q@{} put v", begin)));
  world_.time.Advance(Millis(1'001));
  Major();
  // MIN_VERSIONS keeps live cells, not deleted ones.
  EXPECT_THAT(Raw(), ElementsAre(fmt::format("r:other@{} put w", begin)));
}

TEST_F(DeletedCellsTest, OfFamiliesThatKeepNothingNothingIsLeft) {
  Open("FALSE", 3);
  Apply(Put("r", "q", "v1", 1));
  Apply(Delete("r", "q", CellType::kDeleteColumn, 2));
  EXPECT_THAT(Seen({0, 2}), IsEmpty());
  Major();
  EXPECT_THAT(Raw(), IsEmpty());
}

}  // namespace
}  // namespace ratchet::regionserver
