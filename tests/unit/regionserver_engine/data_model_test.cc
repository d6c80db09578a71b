// The engine against the naive table, from seeds: random mutations of every kind mixed with flushes, compactions, moves
// and crashes; random reads must agree.
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/unit/regionserver_engine/engine_world.h"
#include "tests/unit/regionserver_engine/naive_table.h"

namespace ratchet::regionserver {
namespace {

constexpr int kSteps = 220;
constexpr std::uint64_t kSeeds = 24;

std::string Show(const std::vector<Cell>& cells) {
  std::string out;
  for (const Cell& cell : cells)
    out += fmt::format("  {}/{}:{}/{} = {}\n", cell.row, cell.family, cell.qualifier, cell.timestamp, cell.value);
  return out;
}

class DataModelRun {
 public:
  explicit DataModelRun(std::uint64_t seed)
      : prng_(seed),
        naive_({{"f", {3, 0, INT64_MAX}},
                {"g", {1, 0, INT64_MAX}},
                {"h", {4, 1, 1000}},
                {"k", {2, 0, INT64_MAX, KeepDeleted::kForever}},
                {"l", {3, 0, 1000, KeepDeleted::kUntilExpired}}}) {
    FamilyDescriptor brief = DefaultFamily("h");
    brief.attributes["VERSIONS"] = "4";
    brief.attributes["MIN_VERSIONS"] = "1";
    brief.attributes["TTL"] = "1";
    world_.table.families.push_back(brief);
    FamilyDescriptor keeper = DefaultFamily("k");
    keeper.attributes["VERSIONS"] = "2";
    keeper.attributes["KEEP_DELETED_CELLS"] = "TRUE";
    world_.table.families.push_back(keeper);
    FamilyDescriptor while_alive = DefaultFamily("l");
    while_alive.attributes["VERSIONS"] = "3";
    while_alive.attributes["TTL"] = "1";
    while_alive.attributes["KEEP_DELETED_CELLS"] = "ttl";
    world_.table.families.push_back(while_alive);
    world_.settings.compaction_min_files = 3;
    world_.Format().value();
    Move();
  }

  void Run() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
      world_.time.Advance(Millis(prng_.Between(1, 40)));
      switch (prng_.Below(20)) {
        case 0: server_->region->Flush().value(); break;
        case 1: server_->region->Compact(false).value(); break;
        case 2:
          if (prng_.Chance(1, 3)) MajorCompact();
          break;
        case 3:
          if (prng_.Chance(1, 2)) Move();
          break;
        case 4:
          if (prng_.Chance(1, 2)) Crash();
          break;
        case 5:
        case 6:
        case 7: DeleteSomething(); break;
        case 8: IncrementSomething(); break;
        default: PutSomething(); break;
      }
      CompareGet();
      if (prng_.Chance(1, 4)) CompareScan();
    }
  }

 private:
  std::int64_t Now() const { return world_.time.WallMillis(); }
  std::string Pick(const std::vector<std::string>& choices) { return choices[prng_.Below(choices.size())]; }
  std::string Row() { return Pick({"a", "b", std::string("b\0c", 3), std::string("b\0", 2), "ba"}); }
  std::string Family() { return Pick({"f", "f", "g", "h", "k", "l"}); }
  std::string Qualifier() { return Pick({"", "q", std::string("q\0", 2), "r"}); }
  // Draws from a few timestamps, so that they collide; some are in the near future.
  std::int64_t Time() { return Now() - 300 + 100 * prng_.Between(0, 4); }

  void Apply(AtomicMutation unit) {
    const auto answer = world_.Mutate(*server_->region, std::move(unit));
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->ok()) << answer->error().ToString();
  }

  void PutSomething() {
    Mutation put;
    put.kind = MutationKind::kPut;
    put.row = Row();
    if (prng_.Chance(1, 10)) put.ttl_ms = prng_.Chance(1, 4) ? prng_.Between(-5, 0) : prng_.Between(20, 300);
    for (std::uint64_t i = 0; i <= prng_.Below(3); ++i) {
      // When the time to live of a version ends, an older one appears; a compaction may have dropped its marker by
      // then.
      const std::string family = put.ttl_ms ? Pick({"f", "g", "h"}) : Family();
      Cell cell{put.row, family, Qualifier(), kLatestTimestamp, CellType::kPut, fmt::format("v{}", ++values_)};
      if (prng_.Chance(1, 2)) cell.timestamp = Time();
      put.cells.push_back(cell);
      if (cell.timestamp == kLatestTimestamp) cell.timestamp = Now();
      naive_.Write(cell, put.ttl_ms);
    }
    AtomicMutation unit;
    unit.mutations.push_back(std::move(put));
    Apply(std::move(unit));
  }

  void DeleteSomething() {
    Mutation mutation;
    mutation.kind = MutationKind::kDelete;
    mutation.row = Row();
    if (prng_.Chance(1, 6)) {  // the whole row
      if (prng_.Chance(1, 2)) mutation.timestamp = Time();
      for (const char* family : {"f", "g", "h", "k", "l"})
        naive_.Write({mutation.row, family, "", mutation.timestamp == kLatestTimestamp ? Now() : mutation.timestamp,
                      CellType::kDeleteFamily, ""});
    } else {
      const CellType kinds[] = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                CellType::kDeleteFamilyVersion};
      Cell cell{mutation.row, Family(), Qualifier(), kLatestTimestamp, kinds[prng_.Below(4)], ""};
      if (cell.type == CellType::kDeleteFamily || cell.type == CellType::kDeleteFamilyVersion) cell.qualifier.clear();
      if (prng_.Chance(1, 2)) cell.timestamp = Time();
      mutation.cells.push_back(cell);
      if (cell.timestamp == kLatestTimestamp) {
        cell.timestamp = Now();
        if (cell.type == CellType::kDelete) {
          const std::int64_t newest = naive_.NthNewest(cell.row, cell.family, cell.qualifier, 1, Now());
          if (newest >= 0) cell.timestamp = newest;
        }
      }
      naive_.Write(cell);
    }
    AtomicMutation unit;
    unit.mutations.push_back(std::move(mutation));
    Apply(std::move(unit));
  }

  void IncrementSomething() {
    Mutation mutation;
    mutation.kind = MutationKind::kIncrement;
    mutation.row = Row();
    Cell cell{mutation.row, "f", "n", kLatestTimestamp, CellType::kPut, EncodeInt64(prng_.Between(-5, 5))};
    mutation.cells.push_back(cell);
    ReadSpec spec;
    spec.columns["f"] = {"n"};
    const std::vector<Cell> old = naive_.Read(mutation.row, spec, Now());
    std::int64_t value = 0;
    std::int64_t amount = 0;
    ASSERT_TRUE(DecodeInt64(cell.value, amount));
    if (!old.empty()) {
      ASSERT_TRUE(DecodeInt64(old[0].value, value));
    }
    cell.value = EncodeInt64(value + amount);
    cell.timestamp = old.empty() ? Now() : std::max(Now(), old[0].timestamp);
    naive_.Write(cell);
    AtomicMutation unit;
    unit.mutations.push_back(std::move(mutation));
    Apply(std::move(unit));
  }

  void MajorCompact() {
    server_->region->Compact(true).value();
    naive_.MajorCompact(Now());
  }

  void Move() {
    if (server_) server_->region->Close().value();
    NextServer();
  }

  void Crash() {
    const std::string name = server_->name;
    if (prng_.Chance(1, 2)) world_.disk.PowerFailure(io::SimDisk::Loss::kRandom, prng_.Next());
    server_.reset();
    world_.Recover(name).value();
    NextServer();
  }

  // The server of the previous assignment may have been the last to see this millisecond.
  void NextServer() {
    world_.time.Advance(Millis(2));
    ++openings_;
    server_ = world_.Start(fmt::format("s,1,{}", openings_)).value();
    world_.OpenRegion(*server_, openings_).value();
  }

  ReadSpec RandomSpec() {
    ReadSpec spec;
    while (prng_.Chance(1, 2)) {
      std::vector<std::string>& qualifiers = spec.columns[Family()];
      while (prng_.Chance(1, 2)) qualifiers.push_back(Qualifier());
    }
    if (prng_.Chance(1, 3)) spec.time_range = {Now() - prng_.Between(0, 400), Now() + prng_.Between(-200, 200)};
    spec.max_versions = static_cast<std::uint32_t>(prng_.Between(1, 4));
    if (prng_.Chance(1, 4)) spec.store_limit = static_cast<std::uint32_t>(prng_.Between(0, 3));
    if (prng_.Chance(1, 4)) spec.store_offset = static_cast<std::uint32_t>(prng_.Between(0, 2));
    return spec;
  }

  void CompareGet() {
    GetSpec get;
    static_cast<ReadSpec&>(get) = RandomSpec();
    get.row = Row();
    const std::vector<Cell> expected = naive_.Read(get.row, get, Now());
    const std::vector<Cell> found = server_->region->Get(get).value();
    ASSERT_EQ(found, expected) << "found\n" << Show(found) << "expected\n" << Show(expected);
  }

  void CompareScan() {
    ScanSpec scan;
    static_cast<ReadSpec&>(scan) = RandomSpec();
    scan.reversed = prng_.Chance(1, 2);
    if (prng_.Chance(1, 2)) scan.start_row = Row();
    if (prng_.Chance(1, 2)) scan.stop_row = Row();
    scan.include_start_row = prng_.Chance(1, 2);
    scan.include_stop_row = prng_.Chance(1, 2);
    if (prng_.Chance(1, 3)) scan.batch_cells = static_cast<std::uint32_t>(prng_.Between(1, 3));
    std::vector<std::string> rows = naive_.Rows();
    if (scan.reversed) std::reverse(rows.begin(), rows.end());
    std::vector<Cell> expected;
    for (const std::string& row : rows) {
      const int sign = scan.reversed ? -1 : 1;
      const int from_start = sign * row.compare(scan.start_row);
      const int from_stop = sign * row.compare(scan.stop_row);
      if (!scan.start_row.empty() && (from_start < 0 || (from_start == 0 && !scan.include_start_row))) continue;
      if (!scan.stop_row.empty() && (from_stop > 0 || (from_stop == 0 && !scan.include_stop_row))) continue;
      for (Cell& cell : naive_.Read(row, scan, Now())) expected.push_back(std::move(cell));
    }
    const auto chunk = static_cast<std::uint32_t>(prng_.Between(1, 3));
    const std::vector<Cell> found = world_.ScanAll(*server_->region, scan, chunk).value();
    ASSERT_EQ(found, expected) << "found\n" << Show(found) << "expected\n" << Show(expected);
  }

  Prng prng_;
  EngineWorld world_;
  NaiveTable naive_;
  std::unique_ptr<Server> server_;
  std::uint64_t openings_ = 0;
  int values_ = 0;
};

TEST(DataModelTest, AgreesWithTheNaiveTable) {
  ConfigureLog({LogLevel::kError, {}});
  const char* const chosen = std::getenv("RATCHET_SEED");
  const std::uint64_t first = chosen ? std::strtoull(chosen, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < (chosen ? first + 1 : kSeeds + 1); ++seed) {
    SCOPED_TRACE(fmt::format("RATCHET_SEED={}", seed));
    DataModelRun(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ratchet::regionserver
