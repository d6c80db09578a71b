// hbase:meta has few rows, but each table that was ever made has left some. Masters and clients read all of it, so dead
// rows must go soon, and a scan whose client has given up must end. A chaos run of half an hour found both: a new
// master could not load hbase:meta for a minute, because scans of 110 rows took longer than their time-out, and
// continued.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

AtomicMutation OfMeta(AtomicMutation mutation) {
  for (Mutation& each : mutation.mutations)
    for (Cell& cell : each.cells) cell.family = "info";
  return mutation;
}

class DeadRowsTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }

  void Do(AtomicMutation mutation) { ASSERT_TRUE(world_.Mutate(*server_->region, std::move(mutation))->ok()); }
  // Tables come and go, and a compaction is requested after each flush.
  void Churn(int tables) {
    for (int i = 0; i < tables; ++i) {
      world_.time.Advance(Millis(10));
      Do(OfMeta(Put(fmt::format("t{:04},,1", i), "state", "OPEN")));
      world_.time.Advance(Millis(10));
      Do(DeleteRow(fmt::format("t{:04},,1", i)));
      server_->region->Flush().value();
      server_->region->Compact(false).value();
    }
  }
  std::size_t StoredCells() {
    ScanSpec all;
    all.raw = true;
    all.max_versions = 1'000;
    return world_.ScanAll(*server_->region, all).value().size();
  }
  void ServeMeta() {
    server_ = world_.ServeMeta().value();
    Do(OfMeta(Put("living,,1", "state", "OPEN")));
  }

  EngineWorld world_;
  std::unique_ptr<Server> server_;
};

TEST_F(DeadRowsTest, DroppedTablesLeaveNothingInMeta) {
  ServeMeta();
  Churn(60);
  EXPECT_LT(StoredCells(), 12U);
  EXPECT_EQ(world_.ScanAll(*server_->region).value().size(), 1U);
}

TEST_F(DeadRowsTest, KeepingThemIsNoticed) {
  const ScopedMutant mutant("region.keep_dead_rows_of_meta");
  ServeMeta();
  Churn(60);
  EXPECT_GE(StoredCells(), 120U);
}

TEST_F(DeadRowsTest, AnOrdinaryTableKeepsItsMarkersUntilAMajorCompaction) {
  world_.Format().value();
  server_ = world_.Start("a,1,1").value();
  world_.OpenRegion(*server_, 1).value();
  Do(DeleteRow("r"));
  for (int i = 0; i < 8; ++i) {
    Do(Put(fmt::format("r{}", i), "q", "v"));
    server_->region->Flush().value();
  }
  server_->region->Compact(false).value();
  const std::size_t before = StoredCells();
  server_->region->Compact(true).value();
  EXPECT_LT(StoredCells(), before);
}

ScanLimits AbandonedAt(TimePoint time) {
  ScanLimits limits;
  limits.abandoned = time;
  return limits;
}

class AbandonedScanTest : public DeadRowsTest {
 protected:
  void SetUp() override {
    DeadRowsTest::SetUp();
    ServeMeta();
    for (int i = 0; i < 50; ++i) Do(OfMeta(Put(fmt::format("t{:04},,1", i), "state", "OPEN")));
  }
  Result<ScanChunk> Next(TimePoint abandoned) {
    return server_->region->Scan({}).value()->Next(AbandonedAt(abandoned));
  }
};

TEST_F(AbandonedScanTest, AScanForWhichNobodyWaitsEnds) {
  EXPECT_EQ(Next(world_.time.Now() + Millis(1)).value().rows.size(), 51U);
  const auto late = Next(world_.time.Now());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::kTimeout);
}

TEST_F(AbandonedScanTest, GoingOnForNobodyIsNoticed) {
  const ScopedMutant mutant("scan.for_nobody");
  EXPECT_TRUE(Next(world_.time.Now()).ok());
}

}  // namespace
}  // namespace ratchet::regionserver
