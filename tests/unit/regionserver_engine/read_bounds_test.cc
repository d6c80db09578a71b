// S63 (bounded reads): the memory of reads, whatever rows look like and however long a client waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "regionserver/region/region_errors.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMaxRow = 5000;

// Also passes every cell to a function, during the call.
class SpyingSink final : public ScanSink {
 public:
  explicit SpyingSink(std::function<void(const CellView&)> see) : see_(std::move(see)) {}
  void Add(const CellView& cell) override {
    values.push_back(std::string(cell.row) + "=" + std::string(cell.value));
    see_(cell);
  }
  void EndResult(bool) override { ++results; }
  std::vector<std::string> values;
  int results = 0;

 private:
  const std::function<void(const CellView&)> see_;
};

class ReadBoundsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.settings.budget = std::make_shared<MemstoreBudget>();
    world.settings.max_row_bytes = kMaxRow;
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 1).value();
  }
  void TearDown() override { ConfigureLog({}); }
  void Do(AtomicMutation mutation) {
    world.time.Advance(Millis(1));
    ASSERT_TRUE(world.Mutate(*server->region, std::move(mutation)).value().ok());
  }
  // One row of `columns` columns with `size` bytes each.
  void PutWideRow(const std::string& row, int columns, std::size_t size) {
    AtomicMutation unit = Put(row, "", "");
    const Cell shape = unit.mutations[0].cells[0];
    unit.mutations[0].cells.clear();
    for (int i = 0; i < columns; ++i) {
      Cell cell = shape;
      cell.qualifier = fmt::format("q{:06}", i);
      cell.value = std::string(size, 'v');
      unit.mutations[0].cells.push_back(cell);
    }
    Do(unit);
  }
  std::uint64_t Used() const { return world.settings.budget->used.load(); }
  static std::vector<std::string> Values(const ScanChunk& chunk) {
    std::vector<std::string> values;
    for (const auto& row : chunk.rows)
      for (const Cell& cell : row.cells) values.push_back(cell.row + "=" + cell.value);
    return values;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

ScanLimits OneRow() {
  ScanLimits limits;
  limits.max_results = 1;
  return limits;
}

TEST_F(ReadBoundsTest, AScanThatWaitsHoldsNoFlushedMemstore) {
  for (const char* row : {"a", "b", "c"}) Do(Put(row, "q", "old"));
  auto waiting = server->region->Scan({}).value();
  auto untouched = server->region->Scan({}).value();
  ASSERT_EQ(Values(waiting->Next(OneRow()).value()), std::vector<std::string>{"a=old"});
  ASSERT_GT(Used(), 0U);
  server->region->Flush().value();
  EXPECT_EQ(Used(), 0U);
  Do(Put("b", "q", "new"));
  server->region->Compact(true).value();
  EXPECT_THAT(Values(waiting->Next({}).value()), ElementsAre("b=old", "c=old"));
  EXPECT_THAT(Values(untouched->Next({}).value()), ElementsAre("a=old", "b=old", "c=old"));
}

TEST_F(ReadBoundsTest, WithoutTheExchangeEachScanKeepsAMemstore) {
  const ScopedMutant mutant("region.scans_keep_memstores");
  Do(Put("a", "q", "v"));
  auto waiting = server->region->Scan({}).value();
  server->region->Flush().value();
  EXPECT_GT(Used(), 0U);
}

TEST_F(ReadBoundsTest, AFlushDuringACallIsTakenOverAtTheNextRow) {
  for (const char* row : {"a", "b", "c"}) Do(Put(row, "q", "old"));
  auto scanner = server->region->Scan({}).value();
  SpyingSink sink([&](const CellView& cell) {
    if (cell.row == "a") server->region->Flush().value();
    EXPECT_EQ(Used() > 0, cell.row == "a") << cell.row;
  });
  EXPECT_FALSE(scanner->Next({}, sink).value().more_in_region);
  EXPECT_THAT(sink.values, ElementsAre("a=old", "b=old", "c=old"));
}

// One version written twice: the flush that drops the older one must not take it from a scan that does not see the
// newer one.
std::vector<std::string> SeenOfAVersionWrittenAgain(EngineWorld& world, Region& region) {
  const auto write = [&](const std::string& value) {
    EXPECT_TRUE(world.Mutate(region, Put("a", "q", value, 1000)).value().ok());
  };
  write("old");
  auto scanner = region.Scan({}).value();
  write("new");
  region.Flush().value();
  std::vector<std::string> values;
  const ScanChunk chunk = scanner->Next({}).value();
  for (const auto& row : chunk.rows) values.push_back(row.cells.at(0).value);
  EXPECT_EQ(world.Read(region, "a", "q").value(), "new");
  return values;
}

TEST_F(ReadBoundsTest, AFlushKeepsWhatOpenScansSee) {
  EXPECT_THAT(SeenOfAVersionWrittenAgain(world, *server->region), ElementsAre("old"));
  server->region->Compact(true).value();
  EXPECT_EQ(world.Read(*server->region, "a", "q").value(), "new");
}

TEST_F(ReadBoundsTest, AFlushThatDoesNotLookForScansTakesItAway) {
  const ScopedMutant mutant("region.flush_for_new_scans_only");
  EXPECT_TRUE(SeenOfAVersionWrittenAgain(world, *server->region).empty());
}

TEST_F(ReadBoundsTest, ARowThatIsTakenWholeHasABound) {
  PutWideRow("wide", 20, 500);
  GetSpec get;
  get.row = "wide";
  const auto whole = server->region->Get(get);
  ASSERT_FALSE(whole.ok());
  EXPECT_EQ(whole.error().remote_class(), exception::kRowTooBig);
  EXPECT_TRUE(rpc::IsDoNotRetry(whole.error().remote_class()));
  get.most_cells = 1;  // only whether there is any
  EXPECT_EQ(server->region->Get(get).value().size(), 1U);
  get.most_cells = 0;
  get.store_limit = 3;
  EXPECT_EQ(server->region->Get(get).value().size(), 3U);

  const auto scanned = server->region->Scan({}).value()->Next({});
  ASSERT_FALSE(scanned.ok());
  EXPECT_EQ(scanned.error().remote_class(), exception::kRowTooBig);
  const ScopedMutant mutant("region.any_row_size");
  EXPECT_TRUE(server->region->Scan({}).value()->Next({}).ok());
}

TEST_F(ReadBoundsTest, ALongRowIsStreamedInPartsAcrossFlushAndCompaction) {
  PutWideRow("wide", 40, 500);
  for (const bool batches : {false, true}) {
    ScanSpec spec;
    ScanLimits limits;
    limits.max_bytes = 2000;
    if (batches)
      spec.batch_cells = 2;
    else
      limits.allow_partial = true;
    auto scanner = server->region->Scan(spec).value();
    std::vector<std::string> seen;
    std::size_t chunks = 0;
    for (ScanChunk chunk; chunk.more_in_region; ++chunks) {
      chunk = scanner->Next(limits).value();
      std::size_t cells = 0;
      for (const auto& result : chunk.rows)
        for (const Cell& cell : result.cells) {
          seen.push_back(cell.qualifier);
          ++cells;
        }
      EXPECT_LE(cells, 5U);
      if (chunks == 2) server->region->Flush().value();
      if (chunks == 4) server->region->Compact(true).value();
    }
    EXPECT_EQ(seen.size(), 40U);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_GE(chunks, 10U);
    PutWideRow("wide", 40, 500);
  }
}

TEST_F(ReadBoundsTest, ADeletedRowWithoutEndStillAnswersInTime) {
  PutWideRow("wide", 25'000, 1);
  Do(DeleteRow("wide"));
  Do(Put("x", "q", "v"));
  ScanLimits limits;
  limits.allow_heartbeat = true;
  limits.deadline = world.time.Now();
  auto scanner = server->region->Scan({}).value();
  const ScanChunk first = scanner->Next(limits).value();
  EXPECT_TRUE(first.heartbeat);
  EXPECT_TRUE(first.more_in_region);
  EXPECT_EQ(first.cursor_row, "wide");
  server->region->Flush().value();
  std::vector<std::string> values;
  for (ScanChunk chunk = first; chunk.more_in_region;) {
    chunk = scanner->Next(limits).value();
    for (const std::string& value : Values(chunk)) values.push_back(value);
  }
  EXPECT_THAT(values, ElementsAre("x=v"));
}

// Reads find such markers in the empty column only.
TEST_F(ReadBoundsTest, AMarkerOfAFamilyThatNamesAColumnHidesTheWholeFamily) {
  for (const char* qualifier : {"", "a", "z"}) Do(Put("r", qualifier, "v"));
  Do(Delete("r", "m", CellType::kDeleteFamily));
  for (const char* qualifier : {"", "a", "z"}) EXPECT_EQ(world.Read(*server->region, "r", qualifier).value(), "");
}

}  // namespace
}  // namespace ratchet::regionserver
