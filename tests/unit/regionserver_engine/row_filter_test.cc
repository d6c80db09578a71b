// Row filters of store files: a filter never excludes a row of its file; regions with and without filters return the
// same for the same history; reads of one row skip files, and no other read does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "regionserver/region/file_settings.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/store/block_cache.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/row_filter.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

// A fresh seed, unless RATCHET_SEED names one.
std::uint64_t FreshSeed() {
  const char* const chosen = std::getenv("RATCHET_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : RandomSeed();
  fmt::print("RATCHET_SEED={}\n", seed);
  return seed;
}

std::string FilterOf(const std::set<std::string>& encoded_rows, std::size_t most = RowFilterBuilder::kMostBytes) {
  RowFilterBuilder builder(most);
  for (const std::string& row : encoded_rows) {
    builder.Add(row);
    builder.Add(row);  // a second cell of the row
  }
  return builder.Finish();
}

std::set<std::string> RandomRows(Prng& prng, std::size_t count) {
  std::set<std::string> rows;
  while (rows.size() < count) {
    std::string row(1 + prng.Below(12), '\0');
    for (char& byte : row) byte = static_cast<char>(prng.Chance(1, 4) ? prng.Below(2) : prng.Below(256));
    rows.insert(RowPrefix(row));
  }
  return rows;
}

TEST(RowFilterTest, NeverExcludesARowOfItsFileAndFewOthersPass) {
  Prng prng(FreshSeed());
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{400}, std::size_t{80'000}}) {
    const std::set<std::string> rows = RandomRows(prng, count);
    const std::string bytes = FilterOf(rows);
    const RowFilter filter(bytes);
    for (const std::string& row : rows) ASSERT_TRUE(filter.MayHave(row)) << count;
    std::size_t passed = 0;
    const std::set<std::string> others = RandomRows(prng, 20'000);
    for (const std::string& row : others) passed += !rows.contains(row) && filter.MayHave(row) ? 1 : 0;
    EXPECT_LT(passed, others.size() / 40) << count;
    EXPECT_LT(bytes.size(), 200 + count * 3 / 2) << count;
  }
}

// Files keep their filters for years: another hash or layout needs another format.
TEST(RowFilterTest, TheFormatIsFixed) {
  std::string hex;
  for (const char byte : FilterOf({RowPrefix("a"), RowPrefix("row-0000000017"), RowPrefix(std::string("b\0c", 3))}))
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  EXPECT_EQ(hex,
            "0110726f772d303030303030303031370000400200000000000000010009004000000000000080000008000000000000048000"
            "0004000000000000000000000200000200000800000000000000200000040400");
}

TEST(RowFilterTest, BytesThatCannotBeReadExcludeNoRow) {
  Prng prng(FreshSeed());
  const std::set<std::string> rows = RandomRows(prng, 50);
  const std::string bytes = FilterOf(rows);
  const std::set<std::string> others = RandomRows(prng, 200);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    const RowFilter filter(cut);
    for (const std::string& row : others) ASSERT_TRUE(filter.MayHave(row)) << length;
  }
  std::string later = bytes;
  later.front() = 2;
  EXPECT_TRUE(RowFilter(later).empty());
  for (int i = 0; i < 2'000; ++i) {
    std::string flipped = bytes;
    flipped[prng.Below(flipped.size())] = static_cast<char>(prng.Below(256));
    const RowFilter filter(flipped);
    for (const std::string& row : rows) static_cast<void>(filter.MayHave(row));
  }
}

TEST(RowFilterTest, ALargeFileHasABoundedFilterThatExcludesNoLaterRow) {
  Prng prng(FreshSeed());
  const std::set<std::string> rows = RandomRows(prng, 2 * RowFilterBuilder::kRowsOfPiece + 10);
  const std::string bytes = FilterOf(rows, 1);
  EXPECT_LT(bytes.size(), RowFilterBuilder::kRowsOfPiece * 3 / 2);
  const RowFilter filter(bytes);
  for (const std::string& row : rows) ASSERT_TRUE(filter.MayHave(row));
  const auto middle = std::next(rows.begin(), static_cast<std::ptrdiff_t>(RowFilterBuilder::kRowsOfPiece));
  EXPECT_TRUE(filter.MayHave(*middle + "other"));
  EXPECT_TRUE(filter.MayHave(RowPrefix("\xff\xff")));
}

TEST(TableFilterTest, AFileHasAFilterUnlessEveryFamilyHasNone) {
  const auto filter_for = [](const std::vector<std::string>& settings) {
    TableDescriptor table;
    for (const std::string& setting : settings) {
      table.families.push_back(DefaultFamily(fmt::format("f{}", table.families.size())));
      table.families.back().attributes["BLOOMFILTER"] = setting;
      if (setting.empty()) table.families.back().attributes.erase("BLOOMFILTER");
    }
    return FilterFor(table);
  };
  EXPECT_EQ(filter_for({"NONE"}), FileFilter::kNone);
  EXPECT_EQ(filter_for({"none", "NONE"}), FileFilter::kNone);
  for (const char* setting : {"ROW", "row", "ROWCOL", "ROWPREFIX_FIXED_LENGTH", ""}) {
    EXPECT_EQ(filter_for({setting}), FileFilter::kRow) << setting;
    EXPECT_EQ(filter_for({"NONE", setting}), FileFilter::kRow) << setting;
  }
}

class FilteredRegion : public EngineWorld {
 public:
  explicit FilteredRegion(const std::string& setting) {
    ConfigureLog({LogLevel::kError, {}});
    settings.compaction_min_files = 3;
    FamilyDescriptor second = DefaultFamily("g");
    second.attributes["VERSIONS"] = "3";
    table.families.push_back(second);
    Format().value();
    Have(setting);
    NextOpening();
  }
  void Have(const std::string& setting) {
    for (FamilyDescriptor& family : table.families) family.attributes["BLOOMFILTER"] = setting;
  }
  void NextOpening() {
    if (server_) server_->region->Close().value();
    opened_before = openings_ > 0;
    ++openings_;
    server_ = Start(fmt::format("s,1,{}", openings_)).value();
    OpenRegion(*server_, openings_).value();
  }
  Region& region() { return *server_->region; }
  void Write(const std::string& row) {
    const auto written = Mutate(region(), Put(row, "q", "v"));
    RATCHET_CHECK(written && written->ok(), "a put failed");
  }
  // Returns the rows that a scan finds.
  std::vector<std::string> Rows(const ScanSpec& spec) {
    std::vector<std::string> rows;
    const std::vector<Cell> cells = ScanAll(region(), spec).value();
    for (const Cell& cell : cells) rows.push_back(cell.row);
    return rows;
  }

 private:
  std::unique_ptr<Server> server_;
  std::uint64_t openings_ = 0;
};

// The number of files that the reads of `body` skipped.
std::uint64_t Skipped(const std::function<void()>& body) {
  const std::uint64_t before = RegionCounts::OfProcess().files_skipped.load();
  body();
  return RegionCounts::OfProcess().files_skipped.load() - before;
}

// The number of blocks that the reads of `body` looked up, in the cache or in files.
std::uint64_t Blocks(const std::function<void()>& body) {
  const BlockCache::Use before = BlockCache::OfProcess().Look();
  body();
  const BlockCache::Use after = BlockCache::OfProcess().Look();
  return after.hits + after.misses - before.hits - before.misses;
}

// Four files with the rows r<file><0 to 9>.
void WriteFourFiles(FilteredRegion& world) {
  world.settings.compaction_min_files = 100;
  for (int file = 0; file < 4; ++file) {
    for (int row = 0; row < 10; ++row) world.Write(fmt::format("r{}{}", row, file));
    world.region().Flush().value();
  }
  ASSERT_EQ(world.region().GetStatus().store_files, 4U);
}

TEST(RegionFilterTest, AReadOfOneRowSkipsFilesWithoutTheRow) {
  for (const char* setting : {"ROW", "ROWCOL", "NONE"}) {
    SCOPED_TRACE(setting);
    FilteredRegion world(setting);
    WriteFourFiles(world);
    const std::uint64_t three = setting == std::string("NONE") ? 0 : 3;
    EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "r52", "q").value(), "v"); }), three);
    EXPECT_EQ(Blocks([&] { EXPECT_EQ(world.Read(world.region(), "r52", "q").value(), "v"); }), 4 - three);
    ScanSpec scan;
    scan.start_row = scan.stop_row = "r52";
    scan.include_stop_row = true;
    EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), std::vector<std::string>{"r52"}); }) > 0, three > 0);
    scan.reversed = true;
    EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), std::vector<std::string>{"r52"}); }) > 0, three > 0);
    scan = {};
    scan.start_row = "r52";
    scan.stop_row = std::string("r52\0", 4);
    EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), std::vector<std::string>{"r52"}); }) > 0, three > 0);
    EXPECT_EQ(Skipped([&] { EXPECT_TRUE(world.Mutate(world.region(), Increment("r53", "n", 1))->ok()); }), three);
  }
}

TEST(RegionFilterTest, AScanOfSeveralRowsSkipsNoFile) {
  FilteredRegion world("ROW");
  WriteFourFiles(world);
  ScanSpec scan;
  scan.start_row = "r52";
  scan.stop_row = "r60";
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), (std::vector<std::string>{"r52", "r53"})); }), 0U);
  scan.stop_row = "r52";
  EXPECT_EQ(Skipped([&] { EXPECT_TRUE(world.Rows(scan).empty()); }), 0U);
  scan.stop_row.clear();
  scan.start_row = "r93";
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), std::vector<std::string>{"r93"}); }), 0U);
  scan.start_row = "r00";
  scan.stop_row = "r02";
  scan.include_start_row = false;
  scan.include_stop_row = true;
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Rows(scan), (std::vector<std::string>{"r01", "r02"})); }), 0U);
}

TEST(RegionFilterTest, AnAlteredSettingAppliesToNewFilesAndAllFilesAreRead) {
  FilteredRegion world("NONE");
  WriteFourFiles(world);
  world.Have("ROW");
  world.NextOpening();
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "r52", "q").value(), "v"); }), 0U);
  world.Write("s");
  world.region().Flush().value();
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "r52", "q").value(), "v"); }), 1U);
  world.region().Compact(true).value();
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "r52", "q").value(), "v"); }), 0U);
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "zzz", "q").value(), ""); }), 1U);
  world.Have("NONE");
  world.NextOpening();
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "zzz", "q").value(), ""); }), 1U);
  world.region().Compact(true).value();
  EXPECT_EQ(Skipped([&] { EXPECT_EQ(world.Read(world.region(), "zzz", "q").value(), ""); }), 0U);
  EXPECT_EQ(world.Rows({}).size(), 41U);
}

class NothingExpected final : public filters::Comparator {
 public:
  [[nodiscard]] Result<int> Compare(std::string_view) const override { return 1; }
  [[nodiscard]] bool ExpectsNothing() const override { return true; }
};

TEST(BlockCacheTest, CountsBlocksAndKeepsToItsLimit) {
  FilteredRegion world("ROW");
  for (int row = 0; row < 400; ++row) {
    const auto written = world.Mutate(world.region(), Put(fmt::format("r{:03}", row), "q", std::string(10'000, 'v')));
    ASSERT_TRUE(written && written->ok());
  }
  world.region().Flush().value();
  BlockCache& cache = BlockCache::OfProcess();
  const auto misses_of_a_scan = [&] {
    const std::uint64_t before = cache.Look().misses;
    EXPECT_EQ(world.Rows({}).size(), 400U);
    return cache.Look().misses - before;
  };
  EXPECT_GT(misses_of_a_scan(), 150U);
  EXPECT_EQ(misses_of_a_scan(), 0U);
  cache.SetLimit(1U << 20);
  EXPECT_LE(cache.Look().bytes, 1U << 20);
  EXPECT_EQ(cache.Look().limit_bytes, 1U << 20);
  EXPECT_GT(misses_of_a_scan(), 50U);
  cache.SetLimit(BlockCache::kDefaultBytes);
}

// Applies one random history to two regions, one with filters and one without, and compares all answers.
class TwinRun {
 public:
  explicit TwinRun(std::uint64_t seed) : prng_(seed) {}

  void Run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      const auto advance = Millis(prng_.Below(3));
      for (FilteredRegion* each : {&with_, &without_}) each->time.Advance(advance);
      switch (prng_.Below(16)) {
        case 0:
        case 1:
        case 2: Both([](FilteredRegion& world) { world.region().Flush().value(); }); break;
        case 3: Compact(); break;
        case 4: Reopen(); break;
        case 5:
        case 6:
        case 7: Apply(RandomDelete()); break;
        case 8: Apply(Increment(Row(), "n", prng_.Between(-3, 3))); break;
        case 9: Apply(RandomConditional()); break;
        default: Apply(Put(Row(), Qualifier(), fmt::format("v{}", step), Time())); break;
      }
      CompareGet();
      CompareScan();
    }
  }

 private:
  void Both(const std::function<void(FilteredRegion&)>& act) {
    act(with_);
    act(without_);
  }
  std::string Row() {
    std::string row = fmt::format("{}", prng_.Below(30));
    if (prng_.Chance(1, 4)) row.push_back('\0');
    if (prng_.Chance(1, 4)) row.push_back('x');
    return row;
  }
  std::string Qualifier() { return prng_.Chance(1, 2) ? "q" : "r"; }
  std::int64_t Time() { return prng_.Chance(1, 2) ? kLatestTimestamp : with_.time.WallMillis() - prng_.Between(0, 5); }

  AtomicMutation RandomDelete() {
    const CellType kinds[] = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                              CellType::kDeleteFamilyVersion};
    const CellType kind = kinds[prng_.Below(4)];
    if (prng_.Chance(1, 3)) return DeleteRow(Row(), Time());
    const bool family = kind == CellType::kDeleteFamily || kind == CellType::kDeleteFamilyVersion;
    return Delete(Row(), family ? "" : Qualifier(), kind, Time());
  }
  // A put that requires that the row has no column q, or has it.
  AtomicMutation RandomConditional() {
    AtomicMutation unit = Put(Row(), "q", "conditional");
    unit.condition.emplace();
    unit.condition->row = unit.mutations.front().row;
    unit.condition->family = "f";
    unit.condition->qualifier = "q";
    unit.condition->op = prng_.Chance(1, 2) ? CompareOp::kEqual : CompareOp::kNotEqual;
    unit.condition->comparator = nothing_;
    return unit;
  }
  void Apply(const AtomicMutation& unit) {
    const auto a = with_.Mutate(with_.region(), unit);
    const auto b = without_.Mutate(without_.region(), unit);
    ASSERT_TRUE(a && b && a->ok() && b->ok());
    ASSERT_EQ((*a)->processed, (*b)->processed);
    ASSERT_EQ((*a)->results, (*b)->results);
  }
  void Compact() {
    const bool major = prng_.Chance(1, 4);
    Both([major](FilteredRegion& world) { world.region().Compact(major).value(); });
  }
  void Reopen() {
    static const std::vector<std::string> settings = {"ROW", "ROW", "ROWCOL", "NONE"};
    with_.Have(settings[prng_.Below(settings.size())]);
    Both([](FilteredRegion& world) { world.NextOpening(); });
  }
  void Choose(ReadSpec& spec) {
    spec.max_versions = static_cast<std::uint32_t>(prng_.Between(1, 3));
    spec.raw = prng_.Chance(1, 6);
    if (!spec.raw && prng_.Chance(1, 4)) spec.columns["f"] = {Qualifier()};
  }
  void CompareGet() {
    GetSpec get;
    Choose(get);
    get.row = Row();
    ASSERT_EQ(with_.region().Get(get).value(), without_.region().Get(get).value()) << "get of " << get.row;
  }
  void CompareScan() {
    ScanSpec scan;
    Choose(scan);
    scan.reversed = prng_.Chance(1, 3);
    scan.start_row = Row();
    switch (prng_.Below(4)) {
      case 0: scan.stop_row = Row(); break;
      case 1: scan.stop_row = scan.start_row; break;
      case 2: scan.stop_row = scan.start_row + '\0'; break;
      default: break;
    }
    scan.include_start_row = prng_.Chance(3, 4);
    scan.include_stop_row = prng_.Chance(1, 2);
    const auto chunk = static_cast<std::uint32_t>(prng_.Between(1, 3));
    ASSERT_EQ(with_.ScanAll(with_.region(), scan, chunk).value(),
              without_.ScanAll(without_.region(), scan, chunk).value())
        << "scan from " << scan.start_row << " to " << scan.stop_row;
  }

  Prng prng_;
  FilteredRegion with_{"ROW"};
  FilteredRegion without_{"NONE"};
  const std::shared_ptr<const filters::Comparator> nothing_ = std::make_shared<NothingExpected>();
};

void RunTwins(std::uint64_t first, std::uint64_t seeds, int steps) {
  for (std::uint64_t seed = first; seed < first + seeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("RATCHET_SEED={}", seed));
    TwinRun(seed).Run(steps);
  }
}

TEST(RegionFilterTest, RegionsWithAndWithoutFiltersReturnTheSame) {
  const std::uint64_t skipped = Skipped([] { RunTwins(FreshSeed(), 12, 250); });
  EXPECT_GT(skipped, 100U);
}

TEST(RegionFilterTest, LeavingOutMarkersIsNoticed) {
  ExpectKilled(
      "store.filter_puts_only", [] { RunTwins(1, 4, 250); }, "get of");
}

TEST(RegionFilterTest, SkippingFilesInAnyScanIsNoticed) {
  ExpectKilled(
      "region.filter_any_scan", [] { RunTwins(1, 4, 250); }, "scan from");
}

}  // namespace
}  // namespace ratchet::regionserver
