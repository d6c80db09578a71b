// The cells that HBase's filters select from a table, forward, reversed and in small replies; and jumps against reading
// everything.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/unit/regionserver_engine/engine_world.h"
#include "tests/unit/regionserver_engine/filter_requests.h"

namespace ratchet::regionserver {
namespace {

class FilterScanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.table.families.front().attributes["VERSIONS"] = "3";
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
  }
  void TearDown() override { ConfigureLog({}); }
  // Rows r1 to r4 with columns a, b, c; values are row's and column's number: r1/a = 11. r3 has no b.
  void FillTable() {
    for (const std::string row : {"1", "2", "3", "4"}) {
      int column = 0;
      for (const char* qualifier : {"a", "b", "c"}) {
        ++column;
        if (row == "3" && column == 2) continue;
        Store("r" + row, qualifier, row + std::to_string(column), 10 * column);
      }
    }
  }
  void Store(const std::string& row, const std::string& qualifier, const std::string& value, std::int64_t timestamp) {
    ASSERT_TRUE(world.Mutate(*server->region, Put(row, qualifier, value, timestamp)).value().ok());
  }
  // "1a 1b ..."
  std::string Scan(const pb::Filter& filter, bool reversed = false, std::uint32_t rows_a_chunk = 2,
                   ScanSpec spec = {}) {
    spec.reversed = reversed;
    auto decoded = DecodeFilter(filter, {reversed, 1});
    EXPECT_TRUE(decoded.ok()) << decoded.error().ToString();
    spec.filter = *decoded;
    auto cells = world.ScanAll(*server->region, spec, rows_a_chunk);
    if (!cells.ok()) return cells.error().message();
    std::string text;
    for (const Cell& cell : *cells) text += (text.empty() ? "" : " ") + cell.row.substr(1) + cell.qualifier;
    return text;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

pb::Filter OlderFuzzyOf(const std::string& key, const std::string& mask) {
  pb::FuzzyRowFilter message;
  message.add_fuzzy_keys_data()->set_first(key);
  message.mutable_fuzzy_keys_data(0)->set_second(mask);
  return NamedFilter("FuzzyRowFilter", message);
}

// The filter chooses before the request's versions are counted, in a raw scan too. As in HBase markers count there.
TEST_F(FilterScanTest, VersionsAreCountedAfterTheFilter) {
  for (const int time : {1, 2, 3}) Store("r1", "a", "v" + std::to_string(time), time);
  ASSERT_TRUE(world.Mutate(*server->region, Delete("r1", "a", CellType::kDelete, 4)).value().ok());
  const auto times = [this](const pb::Filter& filter, bool raw, std::uint32_t versions) {
    ScanSpec spec;
    spec.raw = raw;
    spec.max_versions = versions;
    spec.filter = DecodeFilter(filter, {false, 1}).value();
    std::string text;
    const auto cells = world.ScanAll(*server->region, spec, 2);
    for (const Cell& cell : cells.value()) text += std::to_string(cell.timestamp);
    return text;
  };
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    if (flushed) {
      ASSERT_TRUE(server->region->Flush().ok());
    }
    for (const bool raw : {false, true}) {
      SCOPED_TRACE(raw);
      EXPECT_EQ(times(ValueIs(pb::EQUAL, "v1"), raw, 1), "1");
      EXPECT_EQ(times(ValueIs(pb::NOT_EQUAL, "v3"), raw, 1), raw ? "4" : "2");
      EXPECT_EQ(times(ValueIs(pb::NOT_EQUAL, "v2"), raw, 2), raw ? "43" : "31");
    }
  }
}

TEST_F(FilterScanTest, EachFilterLeavesWhatHBaseLeaves) {
  FillTable();
  const auto first = Empty<pb::FirstKeyOnlyFilter>("FirstKeyOnlyFilter");
  struct Case {
    const char* what;
    pb::Filter filter;
    const char* left;
    const char* reversed = nullptr;  // if it is not the same rows in the other order
  };
  const std::vector<Case> cases = {
      {"prefix of all", PrefixOf("r"), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"prefix of one", PrefixOf("r2"), "2a 2b 2c"},
      {"prefix of none", PrefixOf("q"), ""},
      {"prefix longer than rows", PrefixOf("r22"), ""},
      {"row =", RowOp(pb::EQUAL, "r3"), "3a 3c"},
      {"row <", RowOp(pb::LESS, "r2"), "1a 1b 1c"},
      {"row <=", RowOp(pb::LESS_OR_EQUAL, "r2"), "1a 1b 1c 2a 2b 2c"},
      {"row >", RowOp(pb::GREATER, "r3"), "4a 4b 4c"},
      {"row !=", RowOp(pb::NOT_EQUAL, "r3"), "1a 1b 1c 2a 2b 2c 4a 4b 4c"},
      {"no operation passes nothing", RowOp(pb::NO_OP, "r3"), ""},
      {"qualifier", QualifierOp(pb::GREATER_OR_EQUAL, "b"), "1b 1c 2b 2c 3c 4b 4c"},
      {"family", FamilyOp(pb::EQUAL, "f"), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"another family", FamilyOp(pb::EQUAL, "g"), ""},
      {"value", ValueIs(pb::EQUAL, "22"), "2b"},
      {"value, none", ValueIs(pb::EQUAL, "99"), ""},
      {"single column", SingleColumnFilter(SingleColumnOf("b", pb::EQUAL, "22")), "2a 2b 2c 3a 3c"},
      {"single column, or missing", SingleColumnFilter(OrMissing(SingleColumnOf("b", pb::EQUAL, "22"))), "2a 2b 2c"},
      {"single column, excluded", ExcludeFilter(OrMissing(SingleColumnOf("b", pb::EQUAL, "22"))), "2a 2c"},
      {"column value", ColumnValueOf("b", pb::GREATER, "20"), "2b 4b"},
      {"column prefix", ColumnPrefixOf("b"), "1b 2b 4b"},
      {"column prefix behind all", ColumnPrefixOf("d"), ""},
      {"column prefix before all", ColumnPrefixOf("A"), ""},
      {"empty column prefix", ColumnPrefixOf(""), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"column prefixes", PrefixesOf({"c", "a", "aa"}), "1a 1c 2a 2c 3a 3c 4a 4c"},
      {"column range", ColumnRangeOf("a", false, "c", true), "1b 1c 2b 2c 3c 4b 4c"},
      {"column range, half open", ColumnRangeOf("b", true, "c", false), "1b 2b 4b"},
      {"column count", ColumnCountOf(2), "1a 1b 2a 2b 3a 3c 4a 4b"},
      {"column page", ColumnPageOf(1, 1), "1b 2b 3c 4b"},
      {"column page behind all", ColumnPageOf(2, 3), ""},
      {"a hint behind a member that leaves the cell out", AllOf({ColumnPageOf(1, 1), ColumnPrefixOf("c")}),
       "1c 2c 3c 4c"},
      {"the farthest hint", AllOf({ColumnPageOf(1, 1), ColumnPrefixOf("b"), ColumnRangeOf("c", true, "d", true)}), ""},
      {"a hint in a list is not asked for", AllOf({ColumnPageOf(1, 1), AllOf({ColumnPrefixOf("c")})}), "3c"},
      {"column page from", ColumnPageFrom(1, "b"), "1b 2b 3c 4b"},
      {"first key", first, "1a 2a 3a 4a"},
      {"first matching", FirstMatching({"b"}), "1a 1b 2a 2b 3a 3c 4a 4b"},
      {"keys",
       NamedFilter("KeyOnlyFilter",
                   [] {
                     pb::KeyOnlyFilter m;
                     m.set_len_as_val(true);
                     return m;
                   }()),
       "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"page", PageOf(2), "1a 1b 1c 2a 2b 2c", "4a 4b 4c 3a 3c"},
      {"page of none", PageOf(0), ""},
      {"page of those that match", AllOf({ValueIs(pb::GREATER, "20"), PageOf(1)}), "2a 2b 2c", "4a 4b 4c"},
      {"inclusive stop", InclusiveStopOf("r2"), "1a 1b 1c 2a 2b 2c", "4a 4b 4c 3a 3c 2a 2b 2c"},
      {"timestamps", TimestampsOf({10, 30}, false), "1a 1c 2a 2c 3a 3c 4a 4c"},
      {"timestamps with hints", TimestampsOf({20}, true), "1b 2b 4b"},
      {"no timestamps", TimestampsOf({}, false), ""},
      {"all at random", RandomOf(2), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"none at random", RandomOf(-1), ""},
      {"fuzzy", FuzzyOf({{"?3", std::string("\1\0", 2)}, {"x1", std::string("\1\0", 2)}}), "1a 1b 1c 3a 3c"},
      {"fuzzy, as prepared by clients", FuzzyOf({{std::string("\0002", 2), "\x02\xff"}}), "2a 2b 2c"},
      {"fuzzy, nothing free", FuzzyOf({{"r2", std::string(2, '\0')}}), "2a 2b 2c"},
      {"fuzzy or a column that this row lacks",
       AnyOf({FuzzyOf({{"r2", std::string(2, '\0')}}),
              SingleColumnFilter(OrMissing(SingleColumnOf("z", pb::EQUAL, "x")))}),
       "2a 2b 2c"},
      {"fuzzy or a column that has another value",
       AnyOf({FuzzyOf({{"r2", std::string(2, '\0')}}),
              SingleColumnFilter(OrMissing(SingleColumnOf("c", pb::EQUAL, "x")))}),
       "2a 2b 2c"},
      {"fuzzy, of an older client", OlderFuzzyOf("r2", "\xff\xff"), "2a 2b 2c"},
      {"fuzzy, of an older client, nothing fixed", OlderFuzzyOf("x2", std::string(2, '\0')),
       "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"fuzzy, none", FuzzyOf({{"q?", std::string("\0\1", 2)}}), ""},
      {"ranges", RangesOf({{"r3", false, "", false}, {"r1", true, "r2", false}}), "1a 1b 1c 4a 4b 4c"},
      {"ranges that overlap", RangesOf({{"r2", true, "r3", true}, {"r1", false, "r2", true}}), "2a 2b 2c 3a 3c"},
      {"ranges between rows", RangesOf({{"r11", true, "r19", true}}), ""},
      {"dependent", DependentOf("b", false), "1b 2b 4b"},
      {"dependent, dropped", DependentOf("b", true), ""},
      {"skip", Around<pb::SkipFilter>("SkipFilter", ValueIs(pb::NOT_EQUAL, "22")), "1a 1b 1c 3a 3c 4a 4b 4c"},
      {"while", Around<pb::WhileMatchFilter>("WhileMatchFilter", ValueIs(pb::NOT_EQUAL, "22")), "1a 1b 1c 2a",
       "4a 4b 4c 3a 3c 2a"},
      {"while row", Around<pb::WhileMatchFilter>("WhileMatchFilter", RowOp(pb::NOT_EQUAL, "r3")), "1a 1b 1c 2a 2b 2c",
       "4a 4b 4c"},
      {"wrapped", Around<pb::FilterWrapper>("FilterWrapper", PageOf(1)), "1a 1b 1c", "4a 4b 4c"},
      {"nothing", Empty<pb::FilterAllFilter>("FilterAllFilter"), ""},
      {"empty list", AllOf({}), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"empty list of any", AnyOf({}), "1a 1b 1c 2a 2b 2c 3a 3c 4a 4b 4c"},
      {"all", AllOf({PrefixOf("r2"), QualifierOp(pb::EQUAL, "b")}), "2b"},
      {"any", AnyOf({PrefixOf("r2"), QualifierOp(pb::EQUAL, "b")}), "1b 2a 2b 2c 4b"},
      {"any of jumps", AnyOf({ColumnPrefixOf("c"), ColumnPrefixOf("b")}), "1b 1c 2b 2c 3c 4b 4c"},
      {"any of jumps of rows", AnyOf({RangesOf({{"r4", true, "", false}}), RangesOf({{"r2", true, "r2", true}})}),
       "2a 2b 2c 4a 4b 4c"},
      {"any of a jump of rows and none", AnyOf({RangesOf({{"r4", true, "", false}}), ValueIs(pb::EQUAL, "21")}),
       "2a 4a 4b 4c"},
      {"all of jumps", AllOf({RangesOf({{"r2", true, "r3", true}}), ColumnRangeOf("b", true, "z", false)}), "2b 2c 3c"},
      {"a jump behind a row that is out", AllOf({RowOp(pb::EQUAL, "r4"), RangesOf({{"r3", true, "", false}})}),
       "4a 4b 4c"},
      {"first of the rest", AllOf({QualifierOp(pb::NOT_EQUAL, "a"), first}), "1b 2b 3c 4b"},
      {"page within any", AnyOf({PageOf(1), RowOp(pb::EQUAL, "r3")}), "1a 1b 1c 3a 3c", "4a 4b 4c 3a 3c"},
      {"nested", AnyOf({AllOf({PrefixOf("r1"), ColumnPrefixOf("a")}), AllOf({PrefixOf("r4"), ColumnPrefixOf("c")})}),
       "1a 4c"},
      {"keys of first",
       AllOf({first, NamedFilter("KeyOnlyFilter",
                                 [] {
                                   pb::KeyOnlyFilter m;
                                   m.set_len_as_val(false);
                                   return m;
                                 }())}),
       "1a 2a 3a 4a"}};
  const auto backwards = [](const std::string& left) {
    std::vector<std::string> rows;
    for (std::size_t at = 0; at < left.size(); at += 3) {
      const std::string cell = left.substr(at, 2);
      if (rows.empty() || rows.back()[0] != cell[0])
        rows.push_back(cell);
      else
        rows.back() += " " + cell;
    }
    std::reverse(rows.begin(), rows.end());
    std::string text;
    for (const auto& row : rows) text += (text.empty() ? "" : " ") + row;
    return text;
  };
  for (const bool flushed : {false, true}) {
    if (flushed) {
      ASSERT_TRUE(server->region->Flush().ok());
    }
    for (const Case& each : cases) {
      for (const std::uint32_t rows_a_chunk : {1U, 2U, 100U}) {
        EXPECT_EQ(Scan(each.filter, false, rows_a_chunk), each.left) << each.what;
        EXPECT_EQ(Scan(each.filter, true, rows_a_chunk),
                  each.reversed != nullptr ? each.reversed : backwards(each.left))
            << each.what << ", reversed";
      }
    }
  }
}

TEST_F(FilterScanTest, MarkersAreNotJumpedOver) {
  Store("r1", "a", "old", 10);
  Store("r1", "a", "older", 5);
  Store("r1", "", "empty", 20);
  ASSERT_TRUE(world.Mutate(*server->region, Delete("r1", "a", CellType::kDeleteColumn, 7)).value().ok());
  EXPECT_EQ(Scan(TimestampsOf({5}, true)), "");  // its hint goes from 10 to 5, over the marker at 7
  Store("r2", "", "empty", 20);
  Store("r2", "a", "hidden", 5);
  AtomicMutation family = Delete("r2", "", CellType::kDeleteFamily, 7);
  ASSERT_TRUE(world.Mutate(*server->region, family).value().ok());
  EXPECT_EQ(Scan(ColumnPrefixOf("a")), "1a");  // the marker of the family follows the empty column's put
}

TEST_F(FilterScanTest, VersionsAreCountedBehindTheFilter) {
  for (int version = 1; version <= 3; ++version) Store("r1", "a", std::to_string(version), version);
  EXPECT_EQ(Scan(ValueIs(pb::EQUAL, "2")), "1a");  // not the newest, but still one version
  ScanSpec two;
  two.max_versions = 2;
  EXPECT_EQ(Scan(ValueIs(pb::NOT_EQUAL, "3"), false, 2, two), "1a 1a");
  auto message = SingleColumnOf("a", pb::EQUAL, "2");
  EXPECT_EQ(Scan(SingleColumnFilter(message)), "");  // looks at the newest version
  message.set_latest_version_only(false);
  EXPECT_EQ(Scan(SingleColumnFilter(message)), "1a");
}

TEST_F(FilterScanTest, OffsetAndLimitCountWhatTheFilterTakes) {
  FillTable();
  ScanSpec spec;
  spec.store_limit = 1;
  spec.store_offset = 1;
  EXPECT_EQ(Scan(QualifierOp(pb::NOT_EQUAL, "a"), false, 2, spec), "1c 2c 4c");
  ScanSpec batch;
  batch.batch_cells = 1;
  EXPECT_EQ(Scan(QualifierOp(pb::NOT_EQUAL, "a"), false, 2, batch), "1b 1c 2b 2c 3c 4b 4c");
}

// Compares the result for every row over a small alphabet with a full read that applies the definition to each row.
TEST_F(FilterScanTest, JumpsLeaveOutNothing) {
  const std::uint64_t seed = RandomSeed();
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  const std::string letters("\0az\xff", 4);
  const auto word = [&](std::size_t most) {
    std::string text;
    for (std::size_t length = 1 + prng.Below(most); length > 0; --length)
      text.push_back(letters[prng.Below(letters.size())]);
    return text;
  };
  std::vector<std::string> rows;
  for (int i = 0; i < 80; ++i) rows.push_back("r" + word(4));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (const auto& row : rows) Store(row, "q", "v", 1);
  ASSERT_TRUE(server->region->Flush().ok());
  const auto expect = [&](const pb::Filter& filter, const auto& takes, const std::string& what) {
    for (const bool reversed : {false, true}) {
      std::string left;
      std::vector<std::string> order = rows;
      if (reversed) std::reverse(order.begin(), order.end());
      for (const auto& row : order) {
        if (takes(row)) left += (left.empty() ? "" : " ") + row.substr(1) + "q";
      }
      EXPECT_EQ(Scan(filter, reversed, 3), left) << what << (reversed ? ", reversed" : "");
    }
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<TestedRange> ranges;
    for (std::size_t count = 1 + prng.Below(4); count > 0; --count) {
      TestedRange range{"r" + word(3), prng.Chance(1, 2), "r" + word(3), prng.Chance(1, 2)};
      if (range.start > range.stop) std::swap(range.start, range.stop);
      ranges.push_back(range);
    }
    expect(
        RangesOf(ranges),
        [&](const std::string& row) {
          return std::any_of(ranges.begin(), ranges.end(), [&](const TestedRange& r) {
            return (row > r.start || (row == r.start && r.with_start)) &&
                   (row < r.stop || (row == r.stop && r.with_stop));
          });
        },
        "ranges");
    // Keys that are not longer than any row: for a shorter row the landing place of the jump decides (HBase's rule).
    std::vector<std::pair<std::string, std::string>> keys;
    for (std::size_t count = 1 + prng.Below(3); count > 0; --count) {
      const std::string key = ("r" + word(1)).substr(0, 2);
      keys.emplace_back(
          key, std::string(1, static_cast<char>(prng.Below(2))) + std::string(1, static_cast<char>(prng.Below(2))));
    }
    expect(
        FuzzyOf(keys),
        [&](const std::string& row) {
          return std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
            for (std::size_t i = 0; i < key.first.size(); ++i) {
              if (key.second[i] == 0 && key.first[i] != row[i]) return false;
            }
            return true;
          });
        },
        "fuzzy");
  }
}

TEST_F(FilterScanTest, ARowThatIsAskedForAlone) {
  FillTable();
  const auto get = [&](const pb::Filter& filter) {
    GetSpec spec;
    spec.row = "r2";
    spec.filter = DecodeFilter(filter, {}).value();
    std::string text;
    const std::vector<Cell> cells = server->region->Get(spec).value();
    for (const Cell& cell : cells) text += cell.qualifier;
    return text;
  };
  EXPECT_EQ(get(ColumnCountOf(2)), "ab");
  EXPECT_EQ(get(PageOf(1)), "abc");
  EXPECT_EQ(get(PrefixOf("r1")), "");
  EXPECT_EQ(get(SingleColumnFilter(SingleColumnOf("b", pb::EQUAL, "x"))), "");
  EXPECT_EQ(get(RangesOf({{"r3", true, "", false}})), "");
}

TEST_F(FilterScanTest, ScansEndEarlyAndSayWhy) {
  FillTable();
  ScanSpec spec;
  spec.filter = DecodeFilter(PageOf(1), {}).value();
  auto scanner = server->region->Scan(spec).value();
  ScanChunk chunk = scanner->Next(ScanLimits{}).value();
  EXPECT_EQ(chunk.rows.size(), 1U);
  EXPECT_TRUE(chunk.filter_done);
  EXPECT_FALSE(chunk.more_in_region);
  EXPECT_TRUE(scanner->Next(ScanLimits{}).value().rows.empty());
  // The time of the call is over and no row was found: the answer comes anyway, and the scan continues from its
  // position.
  spec.filter = DecodeFilter(ValueIs(pb::EQUAL, "43"), {}).value();
  scanner = server->region->Scan(spec).value();
  ScanLimits hurry;
  hurry.allow_heartbeat = true;
  hurry.deadline = world.time.Now();
  chunk = scanner->Next(hurry).value();
  EXPECT_TRUE(chunk.heartbeat);
  EXPECT_TRUE(chunk.rows.empty());
  EXPECT_EQ(chunk.rows_filtered, 1U);
  EXPECT_EQ(chunk.cursor_row, "r1");
  chunk = scanner->Next(ScanLimits{}).value();
  ASSERT_EQ(chunk.rows.size(), 1U);
  EXPECT_EQ(chunk.rows[0].cells[0].row, "r4");
  EXPECT_FALSE(chunk.more_in_region);
}

TEST_F(FilterScanTest, AnUnreadableValueFailsTheReadByName) {
  FillTable();
  pb::LongComparator expected;
  expected.mutable_comparable()->set_value(EncodeInt64(1));
  const auto filter =
      CompareFilterOf<pb::ValueFilter>("ValueFilter", pb::EQUAL, NamedComparator("LongComparator", expected));
  EXPECT_NE(Scan(filter).find("LongComparator needs stored values of 8 bytes"), std::string::npos);
}

TEST_F(FilterScanTest, ConditionsMayBeFilters) {
  FillTable();
  const auto put_if = [&](const pb::Filter& filter) {
    AtomicMutation unit = Put("r2", "z", "v");
    Condition condition;
    condition.row = "r2";
    condition.filter = DecodeFilter(filter, {}).value();
    unit.condition = condition;
    return world.Mutate(*server->region, unit).value().value().processed;
  };
  EXPECT_TRUE(put_if(SingleColumnFilter(SingleColumnOf("b", pb::EQUAL, "22"))));
  EXPECT_FALSE(put_if(SingleColumnFilter(SingleColumnOf("b", pb::EQUAL, "23"))));
  EXPECT_TRUE(put_if(AllOf({SingleColumnFilter(SingleColumnOf("a", pb::EQUAL, "21")),
                            SingleColumnFilter(SingleColumnOf("b", pb::EQUAL, "22"))})));
  EXPECT_FALSE(put_if(PrefixOf("r1")));
}

}  // namespace
}  // namespace ratchet::regionserver
