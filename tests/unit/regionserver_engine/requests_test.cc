// Requests with HBase's meaning: conditions, batches, read-modify-write, scan limits, hbase:meta's order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/region/nonce_table.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::ElementsAre;

class RequestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 1).value();
  }
  void TearDown() override { ConfigureLog({}); }
  Result<MutationResult> Apply(AtomicMutation mutation) {
    world.time.Advance(Millis(1));
    return std::move(*world.Mutate(*server->region, std::move(mutation)));
  }
  std::string Read(const std::string& row, const std::string& qualifier) {
    return world.Read(*server->region, row, qualifier).value();
  }
  static AtomicMutation If(AtomicMutation mutation, CompareOp op, const std::string& expected) {
    Condition condition;
    condition.row = mutation.mutations[0].row;
    condition.family = "f";
    condition.qualifier = "q";
    condition.op = op;
    condition.comparator = filters::MakeBinary(expected);
    mutation.condition = condition;
    return mutation;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST(NonceTableTest, IsBoundedByNumberAndKnowsItsHorizon) {  // S29 (durable nonces)
  NonceTable table(3);
  for (std::uint64_t i = 1; i <= 5; ++i) table.Add({{1, i, static_cast<std::int64_t>(i * 100)}});
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.Look({1, 5, {}}), NonceTable::Seen::kExecuted);
  EXPECT_EQ(table.Look({1, 2, 150}), NonceTable::Seen::kTooOld);  // was forgotten: not to be executed again
  EXPECT_EQ(table.Look({1, 9, 250}), NonceTable::Seen::kNew);
  NonceTable next(3);
  next.Load({{1, 5, 500}}, table.horizon_ms());
  EXPECT_EQ(next.Look({1, 2, 150}), NonceTable::Seen::kTooOld);
}

TEST_F(RequestsTest, AConditionDecides) {
  EXPECT_TRUE(Apply(If(Put("r", "q", "1"), CompareOp::kEqual, "")).value().processed);
  EXPECT_FALSE(Apply(If(Put("r", "q", "2"), CompareOp::kEqual, "")).value().processed);
  EXPECT_TRUE(Apply(If(Put("r", "q", "3"), CompareOp::kEqual, "1")).value().processed);
  EXPECT_EQ(Read("r", "q"), "3");
  EXPECT_TRUE(Apply(If(DeleteRow("r"), CompareOp::kNotEqual, "x")).value().processed);
  EXPECT_EQ(Read("r", "q"), "");
}

TEST_F(RequestsTest, AConditionalPutIsNeverOlderThanWhatItCompared) {
  const std::int64_t future = world.time.WallMillis() + 100'000;
  ASSERT_TRUE(Apply(Put("r", "q", "old", future)).ok());
  EXPECT_TRUE(Apply(If(Put("r", "q", "new"), CompareOp::kEqual, "old")).value().processed);
  EXPECT_EQ(Read("r", "q"), "new");
}

TEST_F(RequestsTest, AGuardSeesTheRowAndMayRefuse) {
  ASSERT_TRUE(Apply(Put("r", "q", "1")).ok());
  AtomicMutation guarded = Put("r", "q", "2");
  std::string seen;
  guarded.guard = [&](const std::vector<Cell>& row) -> Status {
    seen = row.at(0).value;
    return Error(Code::kStale, "an older transition");
  };
  EXPECT_EQ(Apply(guarded).error().code(), Code::kStale);
  EXPECT_EQ(seen, "1");
  EXPECT_EQ(Read("r", "q"), "1");
}

TEST_F(RequestsTest, IncrementsAndAppends) {
  const auto number = [](const Result<MutationResult>& result) {
    std::int64_t value = 0;
    EXPECT_TRUE(DecodeInt64(result.value().results.at(0).at(0).value, value));
    return value;
  };
  EXPECT_EQ(number(Apply(Increment("r", "n", 3))), 3);
  EXPECT_EQ(number(Apply(Increment("r", "n", -5))), -2);
  server->region->Flush().value();
  EXPECT_EQ(number(Apply(Increment("r", "n", 10))), 8);
  ASSERT_TRUE(Apply(Put("r", "text", "abc")).ok());
  const auto refused = Apply(Increment("r", "text", 1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), "org.apache.hadoop.hbase.DoNotRetryIOException");
  EXPECT_EQ(Apply(Append("r", "text", "de")).value().results[0][0].value, "abcde");
  EXPECT_EQ(Read("r", "text"), "abcde");
}

// HBase's rule: the request's own timestamp is for the first cell of a column only.
TEST_F(RequestsTest, AnIncrementsOwnTimestampCountsOnlyWhereNoCellIsStored) {
  for (AtomicMutation unit : {Increment("r", "n", 1), Append("r", "t", "x")}) {
    unit.mutations[0].cells[0].timestamp = 77;
    EXPECT_EQ(Apply(unit).value().results[0][0].timestamp, 77);
    const std::int64_t second = Apply(unit).value().results[0][0].timestamp;
    EXPECT_GE(second, world.time.WallMillis()) << "of the clock, not of the request";
    unit.mutations[0].cells[0].timestamp = second + 1'000'000;
    EXPECT_LT(Apply(unit).value().results[0][0].timestamp, second + 1'000'000);
  }
}

TEST_F(RequestsTest, TheSameColumnTwiceInOneIncrementCountsOnce) {
  AtomicMutation unit = Increment("r", "n", 5);
  unit.mutations[0].cells.push_back(unit.mutations[0].cells[0]);
  for (const std::int64_t amount : {5, 6}) {
    unit.mutations[0].cells[1].value = EncodeInt64(amount);
    const auto result = Apply(unit);
    ASSERT_EQ(result.value().results[0].size(), 1U) << "one cell for one column";
  }
  EXPECT_EQ(Read("r", "n"), EncodeInt64(5 + 6)) << "the last amount of each";
}

TEST_F(RequestsTest, OneAtomicUnitSeesItsOwnChanges) {
  AtomicMutation unit = Increment("r", "n", 1);
  unit.mutations.push_back(Increment("r", "n", 1).mutations[0]);
  unit.mutations.push_back(Append("r", "t", "x").mutations[0]);
  unit.mutations.push_back(Append("r", "t", "y").mutations[0]);
  ASSERT_TRUE(Apply(unit).ok());
  EXPECT_EQ(Read("r", "n"), EncodeInt64(2));
  EXPECT_EQ(Read("r", "t"), "xy");
}

TEST_F(RequestsTest, ABatchIsIndependentAndInOrder) {
  AtomicMutation wrong = Put("r3", "q", "v");
  wrong.mutations[0].cells[0].family = "nope";
  const auto results =
      world.MutateBatch(*server->region, {Put("r1", "q", "1"), If(Put("r1", "q", "2"), CompareOp::kEqual, "1"), wrong,
                                          Increment("r2", "n", 4), Increment("r2", "n", 5),
                                          If(Put("r1", "q", "3"), CompareOp::kEqual, "no")});
  ASSERT_EQ(results.size(), 6U);
  EXPECT_TRUE(results[1].value().processed);
  EXPECT_FALSE(results[2].ok());
  EXPECT_EQ(results[4].value().results[0][0].value, EncodeInt64(9));
  EXPECT_FALSE(results[5].value().processed);
  EXPECT_EQ(Read("r1", "q"), "2");
}

TEST_F(RequestsTest, PutsOfOneBatchShareOneEntry) {
  const std::uint64_t before = server->log->GetMetrics().entries;
  std::vector<AtomicMutation> puts;
  for (int i = 0; i < 50; ++i) puts.push_back(Put("r" + std::to_string(i), "q", "v"));
  for (const auto& result : world.MutateBatch(*server->region, puts)) EXPECT_TRUE(result.ok());
  EXPECT_EQ(server->log->GetMetrics().entries, before + 1);
}

TEST_F(RequestsTest, SeveralNewestVersionDeletesTakeSeveralVersions) {
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(Apply(Put("r", "q", std::to_string(i))).ok());
  AtomicMutation twice = Delete("r", "q", CellType::kDelete);
  twice.mutations[0].cells.push_back(twice.mutations[0].cells[0]);
  ASSERT_TRUE(Apply(twice).ok());
  EXPECT_EQ(Read("r", "q"), "1");
}

TEST_F(RequestsTest, ADeleteHidesThePutOfItsTimestamp) {
  ASSERT_TRUE(Apply(Put("r", "q", "before", 1000)).ok());
  ASSERT_TRUE(Apply(Delete("r", "q", CellType::kDeleteColumn, 1000)).ok());
  ASSERT_TRUE(Apply(Put("r", "q", "after", 1000)).ok());  // comes later, but is hidden too
  EXPECT_EQ(Read("r", "q"), "");
  server->region->Compact(true).value();
  ASSERT_TRUE(Apply(Put("r", "q", "again", 1000)).ok());  // the marker is gone
  EXPECT_EQ(Read("r", "q"), "again");
}

TEST_F(RequestsTest, ScanLimitsCutWhereTheyAreAllowedTo) {
  for (int i = 0; i < 4; ++i) {
    AtomicMutation row = Put("r" + std::to_string(i), "q0", std::string(100, 'v'));
    for (int q = 1; q < 3; ++q) {
      Cell cell = row.mutations[0].cells[0];
      cell.qualifier = "q" + std::to_string(q);
      row.mutations[0].cells.push_back(cell);
    }
    ASSERT_TRUE(Apply(row).ok());
  }
  ScanLimits limits;
  limits.max_bytes = 150;
  auto whole = server->region->Scan({}).value();
  ScanChunk chunk = whole->Next(limits).value();
  ASSERT_EQ(chunk.rows.size(), 1U);  // rows stay whole
  EXPECT_EQ(chunk.rows[0].cells.size(), 3U);
  EXPECT_FALSE(chunk.rows[0].partial);

  limits.allow_partial = true;
  auto cut = server->region->Scan({}).value();
  chunk = cut->Next(limits).value();
  ASSERT_EQ(chunk.rows.size(), 1U);
  EXPECT_EQ(chunk.rows[0].cells.size(), 2U);
  EXPECT_TRUE(chunk.rows[0].partial);
  chunk = cut->Next(limits).value();
  EXPECT_EQ(chunk.rows[0].cells.size(), 1U);
  EXPECT_FALSE(chunk.rows[0].partial);

  ScanSpec batched;
  batched.batch_cells = 2;
  limits = {};
  limits.max_results = 3;
  auto batches = server->region->Scan(batched).value();
  chunk = batches->Next(limits).value();
  ASSERT_EQ(chunk.rows.size(), 3U);
  EXPECT_TRUE(chunk.rows[0].partial);
  EXPECT_FALSE(chunk.rows[1].partial);
  EXPECT_TRUE(chunk.more_in_region);
}

// HBase's client counts a row twice where it completes a batch out of parts, and ends a limited scan too early.
TEST_F(RequestsTest, BatchesOfAScanWithALimitOfRowsAreNotCutBySize) {
  for (const char* row : {"a", "b"}) {
    for (const char* qualifier : {"1", "2", "3", "4", "5"}) ASSERT_TRUE(Apply(Put(row, qualifier, "value")).ok());
  }
  ScanSpec spec;
  spec.batch_cells = 2;
  ScanLimits limits;
  limits.allow_partial = true;
  limits.max_bytes = 1;
  const auto sizes = [&] {
    std::string text;
    auto scanner = server->region->Scan(spec).value();
    for (ScanChunk chunk; chunk.more_in_region;) {
      chunk = scanner->Next(limits).value();
      for (const auto& result : chunk.rows)
        text += fmt::format("{}{} ", result.cells.size(), result.partial ? "+" : "");
    }
    return text;
  };
  EXPECT_EQ(sizes(), "1+ 1+ 1+ 1+ 1 1+ 1+ 1+ 1+ 1 ") << "without a limit of rows nothing is counted";
  limits.max_rows = 2;
  EXPECT_EQ(sizes(), "2+ 2+ 1 2+ 2+ 1 ");
}

TEST_F(RequestsTest, ABatchOfManyBytesIsCutBySizeInSpiteOfALimitOfRows) {
  for (const char* qualifier : {"1", "2", "3", "4"})
    ASSERT_TRUE(Apply(Put("a", qualifier, std::string(600'000, 'v'))).ok());
  ScanSpec spec;
  spec.batch_cells = 4;
  ScanLimits limits;
  limits.allow_partial = true;
  limits.max_bytes = 1;
  limits.max_rows = 1;
  auto scanner = server->region->Scan(spec).value();
  const ScanChunk chunk = scanner->Next(limits).value();
  ASSERT_EQ(chunk.rows.size(), 1U);
  EXPECT_EQ(chunk.rows[0].cells.size(), 2U);
  EXPECT_TRUE(chunk.rows[0].partial);
}

TEST_F(RequestsTest, AScanThatRunsOutOfTimeSaysHowFarItIs) {
  for (const char* row : {"a", "b", "c"}) ASSERT_TRUE(Apply(Put(row, "q", "v")).ok());
  ScanLimits limits;
  limits.allow_heartbeat = true;
  limits.deadline = world.time.Now();
  auto scanner = server->region->Scan({}).value();
  std::vector<std::string> reached;
  for (ScanChunk chunk; chunk.more_in_region;) {
    chunk = scanner->Next(limits).value();
    reached.push_back(chunk.cursor_row);
    EXPECT_EQ(chunk.heartbeat, chunk.more_in_region);
  }
  EXPECT_THAT(reached, ElementsAre("a", "b", "c"));
}

TEST_F(RequestsTest, AScanKeepsItsViewWhileOthersWriteAndFlush) {
  for (const char* row : {"a", "b", "c"}) ASSERT_TRUE(Apply(Put(row, "q", "old")).ok());
  auto scanner = server->region->Scan({}).value();
  ScanLimits one;
  one.max_results = 1;
  ASSERT_EQ(scanner->Next(one).value().rows.size(), 1U);
  ASSERT_TRUE(Apply(Put("b", "q", "new")).ok());
  ASSERT_TRUE(Apply(Put("d", "q", "new")).ok());
  server->region->Compact(true).value();
  std::vector<std::string> values;
  const ScanChunk rest = scanner->Next({}).value();
  for (const auto& row : rest.rows) values.push_back(row.cells[0].row + row.cells[0].value);
  EXPECT_THAT(values, ElementsAre("bold", "cold"));
}

// A region moves to a server whose clock is behind by more than the memory of nonces: an operation that began there
// just now is not an old retry (found on real processes). A repetition is still answered, and an old retry still
// refused.
TEST_F(RequestsTest, AClockThatIsBehindRefusesNoFreshRequest) {
  const std::int64_t memory = world.settings.nonce_memory.count();
  const auto at = [](std::uint64_t nonce, std::int64_t begun_ms) {
    return Increment("r", "n", 5, Nonce{1, nonce, begun_ms});
  };
  ASSERT_TRUE(Apply(at(1, world.time.WallMillis())).ok());
  const ManualTime slow(world.time.WallMillis() - 2 * memory);
  std::uint64_t opening = 1;
  const auto move_there = [&] {
    server->region->Close().value();
    server = world.Start("slow,1," + std::to_string(++opening)).value();
    OpenParams params;
    params.info = world.info;
    params.table = world.table;
    params.settings = world.settings;
    params.open_number = opening;
    params.directory = server->process->Open("/data/" + world.info.encoded_name()).value();
    params.log = server->log.get();
    params.clock = &slow;
    server->region = Region::Open(std::move(params)).value();
  };
  for (const std::uint64_t fresh : {2U, 3U}) {  // the second time, the uses that the slow server has kept count too
    move_there();
    EXPECT_TRUE(Apply(at(fresh, slow.WallMillis())).ok());
    for (std::uint64_t known = 1; known <= fresh; ++known)
      EXPECT_TRUE(Apply(at(known, slow.WallMillis() - 1'000)).ok());
    const auto sum = Apply(Increment("r", "n", 0)).value();
    std::int64_t value = 0;
    ASSERT_TRUE(DecodeInt64(sum.results[0][0].value, value));
    EXPECT_EQ(value, static_cast<std::int64_t>(5 * fresh)) << "a repetition was executed";
    EXPECT_FALSE(Apply(at(99, slow.WallMillis() - memory - 1'000)).ok());
  }
  const ScopedMutant mutant("region.nonces_by_clock");
  move_there();
  EXPECT_FALSE(Apply(at(4, slow.WallMillis())).ok());
}

// A region moves to a server whose clock is ahead by more than the memory of nonces: the request that was executed just
// before is not forgotten, and not executed again.
TEST_F(RequestsTest, AClockThatIsAheadForgetsNoNonce) {
  const std::int64_t memory = world.settings.nonce_memory.count();
  const auto sum_after_a_repetition = [&](std::uint64_t nonce, std::uint64_t opening) {
    const std::string row = "r" + std::to_string(nonce);
    const auto again = [&](std::int64_t begun_ms) {
      return Apply(Increment(row, "n", 5, Nonce{1, nonce, begun_ms})).value();
    };
    again(world.time.WallMillis());
    server->region->Close().value();
    const ManualTime fast(world.time.WallMillis() + 2 * memory);
    server = world.Start("fast,1," + std::to_string(opening)).value();
    OpenParams params;
    params.info = world.info;
    params.table = world.table;
    params.settings = world.settings;
    params.open_number = opening;
    params.directory = server->process->Open("/data/" + world.info.encoded_name()).value();
    params.log = server->log.get();
    params.clock = &fast;
    server->region = Region::Open(std::move(params)).value();
    const MutationResult repeated = again(fast.WallMillis() - 1'000);
    std::int64_t value = 0;
    EXPECT_TRUE(DecodeInt64(repeated.results[0][0].value, value));
    server->region->Close().value();
    server = world.Start("a,1," + std::to_string(opening)).value();
    world.OpenRegion(*server, opening + 1).value();
    return value;
  };
  EXPECT_EQ(sum_after_a_repetition(1, 10), 5);
  const ScopedMutant mutant("region.nonces_by_clock");
  EXPECT_EQ(sum_after_a_repetition(2, 20), 10);
}

TEST(MetaRegionTest, KeepsMetasOrderAndMonotoneTimestamps) {
  ConfigureLog({LogLevel::kError, {}});
  EngineWorld world;
  auto server = world.ServeMeta().value();
  const auto put = [&](const std::string& row) {
    AtomicMutation unit = Put(row, "server", row);
    unit.mutations[0].cells[0].family = "info";
    ASSERT_TRUE(world.Mutate(*server->region, unit).value().ok());
  };
  // Regions of one table; the second starts at a byte below the comma, the third at a key with commas.
  const std::vector<std::string> sorted = {"t,,1.aa.",    "t,\x01,2.bb.", "t,a,1.cc.",
                                           "t,a,b,3.dd.", "t,b,1.ee.",    "tt,,1.ff."};
  for (auto row = sorted.rbegin(); row != sorted.rend(); ++row) {
    put(*row);
    if (row == sorted.rbegin() + 2) server->region->Flush().value();
  }
  const auto rows = [&](ScanSpec spec) {
    std::vector<std::string> found;
    const std::vector<Cell> cells = world.ScanAll(*server->region, std::move(spec)).value();
    for (const Cell& cell : cells) found.push_back(cell.row);
    return found;
  };
  EXPECT_EQ(rows({}), sorted);
  server->region->Flush().value();
  server->region->Compact(true).value();
  EXPECT_EQ(rows({}), sorted);
  // Clients look a row up by the greatest region row at or before it.
  ScanSpec look_up;
  look_up.reversed = true;
  look_up.start_row = "t,aa,:";
  look_up.stop_row = "t";
  EXPECT_EQ(rows(look_up).front(), "t,a,b,3.dd.");  // start key "a,b" is the greatest one below "aa"
  GetSpec closest;
  closest.row = "t,\x02,:";
  closest.closest_row_before = true;
  EXPECT_EQ(server->region->Get(closest).value().at(0).row, "t,\x01,2.bb.");
  closest.row = "u,x,:";
  EXPECT_TRUE(server->region->Get(closest).value().empty());  // the row before is another table's
  // The clock does not advance, the timestamps do.
  GetSpec get;
  get.row = sorted[0];
  const std::int64_t before = server->region->Get(get).value().at(0).timestamp;
  put(sorted[0]);
  EXPECT_GT(server->region->Get(get).value().at(0).timestamp, before);
  ConfigureLog({});
}

}  // namespace
}  // namespace ratchet::regionserver
