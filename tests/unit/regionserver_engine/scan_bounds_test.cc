// Where scans begin and end: the table "Bounds of scans" in docs/wire-compatibility.md, row by row.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

struct BoundsCase {
  const char* what;
  bool reversed;
  std::string start;
  bool with_start;
  std::string stop;
  bool with_stop;
  std::string rows;  // one after the other, each followed by a blank
};

void ExpectBounds(EngineWorld& world, Region& region, const std::vector<BoundsCase>& cases) {
  for (const BoundsCase& each : cases) {
    ScanSpec scan;
    scan.reversed = each.reversed;
    scan.start_row = each.start;
    scan.include_start_row = each.with_start;
    scan.stop_row = each.stop;
    scan.include_stop_row = each.with_stop;
    for (const std::uint32_t rows_a_chunk : {1U, 100U}) {
      std::string rows;
      const std::vector<Cell> cells = world.ScanAll(region, scan, rows_a_chunk).value();
      for (const Cell& cell : cells) rows += cell.row + " ";
      EXPECT_EQ(rows, each.rows) << each.what << ": " << (each.reversed ? "reversed " : "")
                                 << (each.with_start ? "[" : "(") << each.start << ", " << each.stop
                                 << (each.with_stop ? "]" : ")");
    }
  }
}

TEST(ScanBoundsTest, OfATable) {
  ConfigureLog({LogLevel::kError, {}});
  EngineWorld world;
  world.Format().value();
  auto server = world.Start("a,1,1").value();
  world.OpenRegion(*server, 1).value();
  for (const char* row : {"a", "b", "c"}) ASSERT_TRUE(world.Mutate(*server->region, Put(row, "q", "v")).value().ok());
  ExpectBounds(
      world, *server->region,
      {{"no bounds", false, "", true, "", false, "a b c "},
       {"no bounds", true, "", true, "", false, "c b a "},
       {"no bounds that must be left out", false, "", false, "", true, "a b c "},
       {"no bounds that must be left out", true, "", false, "", true, "c b a "},
       {"half open", false, "a", true, "c", false, "a b "},
       {"half open", true, "c", true, "a", false, "c b "},
       {"the other half", false, "a", false, "c", true, "b c "},
       {"the other half", true, "c", false, "a", true, "b a "},
       {"start = stop, both", false, "b", true, "b", true, "b "},
       {"start = stop, both", true, "b", true, "b", true, "b "},
       {"start = stop, start only", false, "b", true, "b", false, ""},
       {"start = stop, start only", true, "b", true, "b", false, ""},
       {"start = stop, stop only", false, "b", false, "b", true, ""},
       {"start = stop, stop only", true, "b", false, "b", true, ""},
       {"start = stop, neither", false, "b", false, "b", false, ""},
       {"start = stop, neither", true, "b", false, "b", false, ""},
       {"start = stop, no such row", false, "bb", true, "bb", true, ""},
       {"start = stop, no such row", true, "bb", true, "bb", true, ""},
       {"stop before start", false, "c", true, "a", true, ""},
       {"stop before start", true, "a", true, "c", true, ""},
       {"between rows", false, "aa", true, "bb", true, "b "},
       {"between rows", true, "bb", true, "aa", true, "b "},
       {"the row after, by a zero byte", false, std::string("a\0", 2), true, std::string("b\0", 2), false, "b "},
       {"beyond the last row", false, "d", true, "", false, ""},
       {"beyond the last row", true, "d", true, "", false, "c b a "},
       {"before the first row", true, "A", true, "", false, ""}});
  ConfigureLog({});
}

TEST(ScanBoundsTest, OfMeta) {
  ConfigureLog({LogLevel::kError, {}});
  EngineWorld world;
  auto server = world.ServeMeta().value();
  for (const char* row : {"t", "t,,1.aa.", "t,a,1.cc.", "t,a,b,3.dd.", "t,b,1.ee.", "t-x,,1.ff."}) {
    AtomicMutation unit = Put(row, "server", "v");
    unit.mutations[0].cells[0].family = "info";
    ASSERT_TRUE(world.Mutate(*server->region, unit).value().ok());
  }
  // A hyphen is above a comma, but t-x still follows all of t; "a,b" is a start key, and follows "a".
  ExpectBounds(
      world, *server->region,
      {{"all", false, "", true, "", false, "t t,,1.aa. t,a,1.cc. t,a,b,3.dd. t,b,1.ee. t-x,,1.ff. "},
       {"a table's regions", false, "t,,", true, std::string("t\0", 2), false,
        "t,,1.aa. t,a,1.cc. t,a,b,3.dd. t,b,1.ee. "},
       {"a table's regions, as old clients ask", false, "t,,00000000000000", true, "t-x,,00000000000000", false,
        "t,,1.aa. t,a,1.cc. t,a,b,3.dd. t,b,1.ee. "},
       {"its row of state too", false, "t", true, "t,,", false, "t "},
       {"a look-up by Java", true, "t,a,99999999999999", true, "t,,", true, "t,a,1.cc. t,,1.aa. "},
       {"a look-up by gohbase", true, "t,aa,:", true, "t", false, "t,a,b,3.dd. t,a,1.cc. t,,1.aa. "},
       {"the region before, by Java", true, "t,b,00000000000000", true, "t,,", true, "t,a,b,3.dd. t,a,1.cc. t,,1.aa. "},
       {"start = stop, both", true, "t,a,1.cc.", true, "t,a,1.cc.", true, "t,a,1.cc. "},
       {"stop before start, although not by bytes", false, "t,a,b,", true, "t,a,z", true, ""}});
  ConfigureLog({});
}

}  // namespace
}  // namespace ratchet::regionserver
