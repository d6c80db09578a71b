// S61 (bounded writes): the maximum size of cells, atomic mutations, log entries and batches, whatever a client sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kManyBytes = 2000;

class WriteSizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.settings.max_cell_bytes = 3000;
    world.settings.max_unit_bytes = 10'000;
    world.settings.wave_bytes = 5000;
    world.Format().value();
  }
  void TearDown() override { ConfigureLog({}); }
  void StartWriter() {
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 1).value();
  }
  Result<MutationResult> Apply(AtomicMutation mutation) {
    world.time.Advance(Millis(1));
    return std::move(*world.Mutate(*server->region, std::move(mutation)));
  }
  std::string Read(const std::string& row, const std::string& qualifier) {
    return world.Read(*server->region, row, qualifier).value();
  }
  // Appends of one byte each to rows that hold `size` bytes.
  std::vector<AtomicMutation> LargeRowsAndAppends(int rows, std::size_t size) {
    std::vector<AtomicMutation> appends;
    for (int i = 0; i < rows; ++i) {
      const std::string row = "r" + std::to_string(i);
      EXPECT_TRUE(Apply(Put(row, "q", std::string(size, 'v'))).ok());
      appends.push_back(Append(row, "q", "+"));
    }
    return appends;
  }
  // Appends of one unit to columns that hold `size` bytes each.
  AtomicMutation LargeUnit(int columns, std::size_t size) {
    AtomicMutation unit;
    for (int i = 0; i < columns; ++i) {
      const std::string qualifier = "q" + std::to_string(i);
      EXPECT_TRUE(Apply(Put("unit", qualifier, std::string(size, 'v'))).ok());
      unit.mutations.push_back(Append("unit", qualifier, "+").mutations.front());
    }
    return unit;
  }
  static void ExpectRefusedForGood(const Result<MutationResult>& result, const std::string& why) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().remote_class(), rpc::exception::kDoNotRetryIo);
    EXPECT_THAT(result.error().message(), HasSubstr(why));
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(WriteSizeTest, ACellAboveTheLimitIsRefusedResultsOfAppendsIncluded) {
  StartWriter();
  ExpectRefusedForGood(Apply(Put("r", "q", std::string(3000, 'v'))), "exceeds limit of 3000 bytes");
  ASSERT_TRUE(Apply(Put("r", "q", std::string(kManyBytes, 'v'))).ok());
  ExpectRefusedForGood(Apply(Append("r", "q", std::string(kManyBytes, 'w'))), "exceeds limit of 3000 bytes");
  EXPECT_EQ(Read("r", "q").size(), kManyBytes);
  ASSERT_TRUE(Apply(Append("r", "q", "+")).ok());
}

TEST_F(WriteSizeTest, WithoutTheLimitACellGrowsForEver) {
  const ScopedMutant mutant("region.any_cell_size");
  StartWriter();
  ASSERT_TRUE(Apply(Put("r", "q", std::string(kManyBytes, 'v'))).ok());
  EXPECT_TRUE(Apply(Append("r", "q", std::string(kManyBytes, 'w'))).ok());
}

TEST_F(WriteSizeTest, ATableHasItsOwnLimit) {
  world.table.attributes["hbase.server.keyvalue.maxsize"] = "500";
  StartWriter();
  ExpectRefusedForGood(Apply(Put("r", "q", std::string(500, 'v'))), "exceeds limit of 500 bytes");
  ASSERT_TRUE(Apply(Put("r", "q", std::string(400, 'v'))).ok());
}

TEST_F(WriteSizeTest, AnAtomicMutationThatMakesTooMuchIsRefusedWhole) {
  StartWriter();
  const AtomicMutation unit = LargeUnit(6, kManyBytes);
  ExpectRefusedForGood(Apply(unit), "more than 10000 bytes");
  EXPECT_EQ(Read("unit", "q0").size(), kManyBytes);
  EXPECT_TRUE(Apply(Put("r", "q", "v")).ok());  // the server continues
  const ScopedMutant mutant("region.any_unit_size");
  EXPECT_TRUE(Apply(unit).ok());
}

TEST_F(WriteSizeTest, ABatchIsCutIntoEntriesByTheirBytes) {
  StartWriter();
  const std::vector<AtomicMutation> appends = LargeRowsAndAppends(6, kManyBytes);
  const auto entries = [&] { return server->log->GetMetrics().entries; };
  std::uint64_t before = entries();
  for (const auto& result : world.MutateBatch(*server->region, appends)) EXPECT_TRUE(result.ok());
  EXPECT_EQ(entries(), before + 2);  // three cells of 2,000 bytes each
  EXPECT_EQ(Read("r5", "q").size(), kManyBytes + 1);

  const ScopedMutant mutant("region.uncut_wave");
  before = entries();
  for (const auto& result : world.MutateBatch(*server->region, appends)) EXPECT_TRUE(result.ok());
  EXPECT_EQ(entries(), before + 1);
}

TEST_F(WriteSizeTest, ABatchLooksAtTheBoundsAgainBeforeEachEntry) {
  world.settings.blocking_bytes = 20'000;
  StartWriter();
  const std::vector<AtomicMutation> appends = LargeRowsAndAppends(8, kManyBytes);
  const auto results = world.MutateBatch(*server->region, appends);
  ASSERT_TRUE(results.front().ok());
  ASSERT_FALSE(results.back().ok());
  EXPECT_EQ(results.back().error().remote_class(), rpc::exception::kRegionTooBusy);
  server->region->Flush().value();
  for (const auto& result : world.MutateBatch(*server->region, {appends.back()})) EXPECT_TRUE(result.ok());
  EXPECT_EQ(Read("r7", "q").size(), kManyBytes + 1);
}

TEST_F(WriteSizeTest, AnEntryThatTheLogCannotTakeIsRefusedAndTheLogGoesOn) {
  world.log_options.max_entry_bytes = 6000;
  StartWriter();
  ExpectRefusedForGood(Apply(LargeUnit(4, kManyBytes)), "the limit is 6000");
  EXPECT_EQ(Read("unit", "q0").size(), kManyBytes);
  ASSERT_TRUE(Apply(Put("r", "q", "v")).ok());
  server.reset();
  world.Recover("a,1,1").value();
  server = std::move(world.Start("b,1,1")).value();
  world.OpenRegion(*server, 2).value();
  EXPECT_EQ(Read("unit", "q3").size(), kManyBytes);
  EXPECT_EQ(Read("r", "q"), "v");
}

TEST_F(WriteSizeTest, UnitsThatReturnResultsAreRefusedOnceTheAnswerIsFull) {
  StartWriter();
  const std::vector<AtomicMutation> appends = LargeRowsAndAppends(4, kManyBytes);
  auto allowance = std::make_shared<ResultAllowance>(3000);
  std::vector<Result<MutationResult>> results;
  Mutex mutex;
  CondVar changed;
  bool ended = false;
  std::vector<AtomicMutation> units = appends;
  units.push_back(Put("r9", "q", "v"));
  server->region->MutateBatch(
      units,
      [&](std::vector<Result<MutationResult>> answers) {
        MutexLock lock(mutex);
        results = std::move(answers);
        ended = true;
        changed.NotifyAll();
      },
      allowance);
  MutexLock lock(mutex);
  while (!ended) changed.Wait(mutex);
  EXPECT_TRUE(results[1].ok());
  ASSERT_FALSE(results[2].ok());
  EXPECT_EQ(results[2].error().remote_class(), rpc::exception::kMultiActionResultTooLarge);
  EXPECT_TRUE(results[4].ok());  // a put returns nothing
  EXPECT_EQ(Read("r2", "q").size(), kManyBytes) << "it was executed all the same";
}

}  // namespace
}  // namespace ratchet::regionserver
