// S165 (plain cells pass every rule): scans that take plain cells without the selection, against scans that select each
// cell: random data with versions, markers, times to live and several families, random limits, and writes, flushes and
// compactions between two calls.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kScanSeeds = 60;
constexpr std::uint32_t kNoLimit = 1'000'000;

std::string Show(const Result<ScanChunk>& chunk) {
  if (!chunk.ok()) return chunk.error().ToString();
  std::string out =
      fmt::format("results {} rows {} more {} scanned {} filtered {} at {}", chunk->results, chunk->finished_rows,
                  chunk->more_in_region, chunk->rows_scanned, chunk->rows_filtered, chunk->cursor_row);
  for (const ScanResultRow& row : chunk->rows) {
    out += row.partial ? "\n partial" : "\n whole";
    for (const Cell& cell : row.cells)
      out += fmt::format(" {}/{}:{}/{}/{}={}", cell.row, cell.family, cell.qualifier, cell.timestamp,
                         static_cast<int>(cell.type), cell.value);
  }
  return out;
}

class PlainScanRun {
 public:
  explicit PlainScanRun(std::uint64_t seed) : prng_(seed) {
    const auto add = [this](const char* name, const char* versions, const char* ttl) {
      FamilyDescriptor family = DefaultFamily(name);
      family.attributes["VERSIONS"] = versions;
      if (ttl != nullptr) family.attributes["TTL"] = ttl;
      world_.table.families.push_back(family);
    };
    add("one", "1", nullptr);
    add("three", "3", nullptr);
    add("brief", "2", "1");
    if (prng_.Chance(1, 3)) world_.settings.max_row_bytes = 150;
    world_.Format().value();
    server_ = world_.Start("s,1,1").value();
    world_.OpenRegion(*server_, 1).value();
    simple_ = prng_.Chance(1, 2);
  }

  // Returns what differs; empty: nothing.
  std::string Run() {
    for (int i = 0; i < 120; ++i) ChangeSomething();
    for (int i = 0; i < 12; ++i) {
      std::string difference = CompareScans();
      if (!difference.empty()) return difference;
      for (std::uint64_t more = prng_.Below(8); more > 0; --more) ChangeSomething();
    }
    return {};
  }

 private:
  std::string Pick(const std::vector<std::string>& choices) { return choices[prng_.Below(choices.size())]; }
  std::string Row() {
    if (prng_.Chance(1, 20)) return Pick({std::string("r\0", 2), std::string("r\0a", 3), "r", "rr0"});
    return fmt::format("r{:02}", prng_.Below(40));
  }
  std::string Family() { return simple_ ? Pick({"one", "three"}) : Pick({"one", "three", "brief", "f"}); }
  std::string Qualifier() {
    return prng_.Chance(1, 4) ? Pick({"", std::string("q\0", 2)}) : Pick({"q", "r", "longer"});
  }
  std::int64_t Time() { return world_.time.WallMillis() - 300 + 100 * prng_.Between(0, 4); }

  void ChangeSomething() {
    world_.time.Advance(Millis(prng_.Between(1, 60)));
    const std::uint64_t choice = prng_.Below(simple_ ? 100 : 24);
    if (choice == 0) return server_->region->Flush().value();
    if (choice == 1) return server_->region->Compact(prng_.Chance(1, 3)).value();
    Mutation mutation;
    mutation.row = Row();
    Cell cell{mutation.row, Family(), Qualifier(), kLatestTimestamp, CellType::kPut, fmt::format("v{}", ++values_)};
    if (prng_.Chance(1, 3)) cell.timestamp = Time();
    if (choice < 6) {
      mutation.kind = MutationKind::kDelete;
      const CellType kinds[] = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                CellType::kDeleteFamilyVersion};
      cell.type = kinds[prng_.Below(4)];
      cell.value.clear();
      if (cell.type == CellType::kDeleteFamily || cell.type == CellType::kDeleteFamilyVersion) cell.qualifier.clear();
    } else if (choice == 6) {
      mutation.ttl_ms = prng_.Between(20, 300);
    }
    if (choice == 7) cell.value.resize(60, 'x');
    mutation.cells.push_back(std::move(cell));
    AtomicMutation unit;
    unit.mutations.push_back(std::move(mutation));
    EXPECT_TRUE(world_.Mutate(*server_->region, std::move(unit)).value().ok());
  }

  ScanLimits RandomLimits() {
    ScanLimits limits;
    if (prng_.Chance(1, 3)) limits.max_results = static_cast<std::uint32_t>(prng_.Between(1, 9));
    if (prng_.Chance(1, 4)) limits.max_rows = static_cast<std::uint32_t>(prng_.Between(1, 9));
    if (prng_.Chance(1, 2)) limits.max_bytes = static_cast<std::uint64_t>(prng_.Between(1, 900));
    limits.allow_partial = prng_.Chance(1, 2);
    return limits;
  }

  std::string CompareScans() {
    ScanSpec spec;
    if (prng_.Chance(1, 2)) spec.start_row = Row();
    if (prng_.Chance(1, 2)) spec.stop_row = Row();
    spec.include_start_row = prng_.Chance(1, 2);
    spec.include_stop_row = prng_.Chance(1, 2);
    spec.max_versions = static_cast<std::uint32_t>(prng_.Between(1, 3));
    if (prng_.Chance(1, 3)) spec.columns[Family()] = {};
    ScanSpec selecting = spec;
    selecting.store_limit = kNoLimit;  // a limit that is never reached, but has to be counted
    const auto plain = server_->region->Scan(spec).value();
    const auto selected = server_->region->Scan(selecting).value();
    for (int call = 0; call < 200; ++call) {
      const ScanLimits limits = RandomLimits();
      const Result<ScanChunk> found = plain->Next(limits);
      const Result<ScanChunk> expected = selected->Next(limits);
      if (Show(found) != Show(expected))
        return fmt::format("call {}: found\n{}\nexpected\n{}", call, Show(found), Show(expected));
      if (!expected.ok() || !expected->more_in_region) return {};
      if (prng_.Chance(1, 3)) ChangeSomething();
    }
    return "the scan did not end";
  }

  Prng prng_;
  EngineWorld world_;
  std::unique_ptr<Server> server_;
  bool simple_ = false;  // most cells are plain
  int values_ = 0;
};

class PlainScanTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
  static bool IsNoticed(const char* mutant) {
    const ScopedMutant on(mutant);
    for (std::uint64_t seed = 1; seed <= kScanSeeds; ++seed)
      if (!PlainScanRun(seed).Run().empty()) return true;
    return false;
  }
};

TEST_F(PlainScanTest, ReturnsWhatTheSelectionReturnsCallByCall) {
  const char* const chosen = std::getenv("RATCHET_SEED");
  const std::uint64_t first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < (chosen != nullptr ? first + 1 : kScanSeeds + 1); ++seed)
    ASSERT_EQ(PlainScanRun(seed).Run(), "") << "RATCHET_SEED=" << seed;
}

TEST_F(PlainScanTest, TakingMarkersIsNoticed) { EXPECT_TRUE(IsNoticed("region.plain_markers")); }
TEST_F(PlainScanTest, TakingUnreadableCellsIsNoticed) { EXPECT_TRUE(IsNoticed("region.plain_unreadable")); }
TEST_F(PlainScanTest, TakingExpiredCellsIsNoticed) { EXPECT_TRUE(IsNoticed("region.plain_expired")); }
TEST_F(PlainScanTest, ReturningRowsOfAnySizeIsNoticed) { EXPECT_TRUE(IsNoticed("region.plain_any_row_size")); }

// The marker of the family follows a newer put in the empty column, and hides a put in another column.
std::vector<std::string> ValuesBehindMarker() {
  EngineWorld world;
  world.Format().value();
  const auto server = world.Start("s,1,1").value();
  world.OpenRegion(*server, 1).value();
  const std::vector<AtomicMutation> units = {
      Put("row", "q", "hidden", 100), Delete("row", "", CellType::kDeleteFamily, 150), Put("row", "", "new", 200)};
  for (const AtomicMutation& unit : units) EXPECT_TRUE(world.Mutate(*server->region, unit).value().ok());
  std::vector<std::string> values;
  const std::vector<Cell> cells = world.ScanAll(*server->region).value();
  for (const Cell& cell : cells) values.push_back(cell.value);
  return values;
}

TEST_F(PlainScanTest, SkippingMarkersOfTheFamilyIsNoticed) {
  EXPECT_EQ(ValuesBehindMarker(), std::vector<std::string>({"new"}));
  const ScopedMutant on("region.plain_empty_column");
  EXPECT_EQ(ValuesBehindMarker(), std::vector<std::string>({"new", "hidden"}));
}

}  // namespace
}  // namespace ratchet::regionserver
