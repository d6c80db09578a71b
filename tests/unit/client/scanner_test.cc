#include "common/client/scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "common/base/mutant.h"
#include "common/client/table.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/client/fake_cluster.h"

namespace ratchet::client {
namespace {

class ScannerTest : public ::testing::Test {
 protected:
  ScannerTest() {
    cluster_.AddTable(name_, {"g", "n", "t"});
    ConnectionOptions options;
    options.masters = {cluster_.master()};
    options.operation_timeout = Millis(20'000);
    connection_ = Connection::Open(options).value();
    std::vector<Mutation> mutations;
    for (char c = 'a'; c <= 'z'; ++c) {
      for (int i = 0; i < 4; ++i) {
        rows_.push_back(std::string(1, c) + std::to_string(i));
        mutations.push_back(Mutation::Put(rows_.back()).Set("f", "q", "v" + rows_.back()));
      }
    }
    for (const Status& status : Table(*connection_, name_).MutateMany(mutations)) RATCHET_CHECK(status.ok(), "put");
  }

  // The rows of a scan; `between` runs before each Next.
  std::vector<Row> Rows(Scan scan, const std::function<void(std::size_t)>& between = {}) {
    Scanner scanner(*connection_, name_, std::move(scan));
    std::vector<Row> rows;
    for (;;) {
      if (between) between(rows.size());
      auto row = scanner.Next();
      if (!row.ok()) ADD_FAILURE() << row.error().ToString();
      if (!row.ok() || !row->has_value()) return rows;
      rows.push_back(std::move(**row));
    }
  }
  // Returns the keys of the rows that are whole.
  std::vector<std::string> Keys(Scan scan, const std::function<void(std::size_t)>& between = {}) {
    std::vector<std::string> keys;
    for (const Row& row : Rows(std::move(scan), between)) {
      EXPECT_EQ(row.cells.size(), cluster_.columns.load());
      EXPECT_EQ(row.Value("f", "q"), "v" + row.key);
      keys.push_back(row.key);
    }
    return keys;
  }
  // The expected result of a scan of [start, stop).
  std::vector<std::string> Expected(const Scan& scan) {
    std::vector<std::string> keys;
    for (const auto& row : rows_) {
      const std::string& low = scan.reversed ? scan.stop_row : scan.start_row;
      const std::string& high = scan.reversed ? scan.start_row : scan.stop_row;
      const bool include_low = scan.reversed ? scan.include_stop : scan.include_start;
      const bool include_high = scan.reversed ? scan.include_start : scan.include_stop;
      if (!low.empty() && (row < low || (row == low && !include_low))) continue;
      if (!high.empty() && (row > high || (row == high && !include_high))) continue;
      keys.push_back(row);
    }
    if (scan.reversed) std::reverse(keys.begin(), keys.end());
    if (scan.limit != 0 && keys.size() > scan.limit) keys.resize(scan.limit);
    return keys;
  }

  const TableName name_{"default", "t"};
  FakeCluster cluster_{3};
  std::unique_ptr<Connection> connection_;
  std::vector<std::string> rows_;
};

TEST_F(ScannerTest, EveryRangeInBothDirections) {
  for (const bool reversed : {false, true}) {
    for (const char* start : {"", "a0", "g0", "m9", "t", "z3", "zz"}) {
      for (const char* stop : {"", "a0", "f", "g", "n0", "t0", "z3"}) {
        for (int flags = 0; flags < 4; ++flags) {
          Scan scan;
          scan.reversed = reversed;
          scan.start_row = start;
          scan.stop_row = stop;
          scan.include_start = (flags & 1) != 0;
          scan.include_stop = (flags & 2) != 0;
          scan.rows_per_call = 3;
          ASSERT_EQ(Keys(scan), Expected(scan)) << reversed << " '" << start << "' '" << stop << "' " << flags;
        }
      }
    }
  }
  EXPECT_EQ(cluster_.OpenScanners(), 0u);
}

TEST_F(ScannerTest, LimitsAndSmallPages) {
  for (const std::uint64_t limit : {1, 5, 24, 25, 1000}) {
    Scan scan;
    scan.limit = limit;
    scan.rows_per_call = 2;
    EXPECT_EQ(Keys(scan), Expected(scan));
  }
}

TEST_F(ScannerTest, StitchesRowsThatTheServerCut) {
  cluster_.columns = 5;
  for (const std::uint32_t cells : {1U, 2U, 5U}) {
    cluster_.cells_per_result = cells;
    for (const bool reversed : {false, true}) {
      Scan scan;
      scan.reversed = reversed;
      scan.rows_per_call = 2;
      EXPECT_EQ(Keys(scan), Expected(scan));
    }
  }
}

// The place within a row is lost after each reply: replies grow until the row comes whole.
TEST_F(ScannerTest, RowsThatNeverComeInPartsComeWhole) {
  cluster_.columns = 3;
  cluster_.cells_per_result = 1;
  cluster_.loses_places_below = 1U << 20U;
  Scan scan;
  scan.bytes_per_call = 1;
  EXPECT_EQ(Keys(scan), Expected(scan));
}

#if defined(RATCHET_MUTANTS)
TEST_F(ScannerTest, RepliesThatDoNotGrowAreCaught) {
  const ScopedMutant mutant("client.same_reply_size");
  cluster_.columns = 3;
  cluster_.cells_per_result = 1;
  cluster_.loses_places_below = 1U << 20U;
  std::atomic<int> calls{0};
  cluster_.SetFault([&](const std::string& method, int) -> std::optional<Error> {
    if (method == "Scan" && ++calls > 50) return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "no progress");
    return std::nullopt;
  });
  Scan scan;
  scan.bytes_per_call = 1;
  Scanner scanner(*connection_, name_, scan);
  const auto row = scanner.Next();
  ASSERT_FALSE(row.ok());
  EXPECT_NE(row.error().message().find("no progress"), std::string::npos) << row.error().ToString();
}
#endif

TEST_F(ScannerTest, GoesOnBehindTheLastWholeRowAfterAMove) {
  cluster_.columns = 3;
  cluster_.cells_per_result = 2;
  for (const bool reversed : {false, true}) {
    Scan scan;
    scan.reversed = reversed;
    scan.rows_per_call = 3;
    const auto keys = Keys(scan, [&](std::size_t returned) {
      if (returned % 5 == 2) cluster_.Move(name_, rows_[returned % rows_.size()], returned % 3);
      if (returned == 50) cluster_.Move(name_, reversed ? "m3" : "n1", 2);
    });
    EXPECT_EQ(keys, Expected(scan));
  }
}

#if defined(RATCHET_MUTANTS)
// Half of a row was read before the move, and the whole of it after.
TEST_F(ScannerTest, KeepingTheHalfOfARowIsCaught) {
  const ScopedMutant mutant("client.keep_half_row");
  cluster_.columns = 3;
  cluster_.cells_per_result = 2;
  Scan scan;
  scan.rows_per_call = 3;
  const auto rows = Rows(scan, [&](std::size_t returned) {
    if (returned % 5 == 2) cluster_.Move(name_, rows_[returned % rows_.size()], returned % 3);
  });
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.cells.size() != 3; }));
}
#endif

TEST_F(ScannerTest, GoesOnThroughASplit) {
  for (const bool reversed : {false, true}) {
    Scan scan;
    scan.reversed = reversed;
    scan.rows_per_call = 2;
    const auto keys = Keys(scan, [&](std::size_t returned) {
      if (returned == 30) cluster_.Split(name_, reversed ? "r2" : "i1", 1);
    });
    EXPECT_EQ(keys, Expected(scan));
  }
}

TEST_F(ScannerTest, LostAnswersAreReadAgain) {
  cluster_.LoseAnswers("Scan", 3);
  Scan scan;
  scan.rows_per_call = 4;
  EXPECT_EQ(Keys(scan), Expected(scan));
}

TEST_F(ScannerTest, DroppedEarlyItClosesItsSideOnTheServer) {
  {
    Scan scan;
    scan.rows_per_call = 2;
    Scanner scanner(*connection_, name_, scan);
    ASSERT_TRUE(scanner.Next().ok());
    EXPECT_EQ(cluster_.OpenScanners(), 1u);
    Scanner moved(std::move(scanner));
    ASSERT_TRUE(moved.Next().ok());
  }
  const TimePoint deadline = SystemClock().Now() + Millis(10'000);
  while (cluster_.OpenScanners() > 0 && SystemClock().Now() < deadline) std::this_thread::yield();
  EXPECT_EQ(cluster_.OpenScanners(), 0u);
}

TEST_F(ScannerTest, TableThatDoesNotExist) {
  for (const bool reversed : {false, true}) {
    Scan scan;
    scan.reversed = reversed;
    Scanner scanner(*connection_, TableName("default", "nowhere"), scan);
    const auto row = scanner.Next();
    ASSERT_FALSE(row.ok());
    EXPECT_TRUE(rpc::IsClass(row.error(), rpc::exception::kTableNotFound));
  }
}

}  // namespace
}  // namespace ratchet::client
