// Measures filters that seek: three of them on a table of many rows, compared with a full scan and with a filter that
// returns the same cells but reads everything.
//
// filter_bench [rows] [rounds]. Prints one line per case: returned cells, the best round. Rows are in one file with
// cached blocks.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "tests/unit/regionserver_engine/engine_world.h"
#include "tests/unit/regionserver_engine/filter_requests.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kColumns = 20;  // columns of a row of the wide table

class CountingSink final : public ScanSink {
 public:
  void Add(const CellView&) override { ++cells; }
  void EndResult(bool) override {}
  std::uint64_t cells = 0;
};

std::string RowName(std::size_t i) { return fmt::format("row{:09}", i); }

struct Place {
  Place() {
    world.settings.flush_bytes = world.settings.blocking_bytes = 8ULL << 30;
    world.settings.compaction_min_files = 100;
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
  }
  void Fill(std::size_t rows, std::size_t columns) {
    std::vector<AtomicMutation> batch;
    for (std::size_t i = 0; i < rows; ++i) {
      AtomicMutation unit = Put(RowName(i), "c000", std::string(20, 'v'));
      for (std::size_t column = 1; column < columns; ++column) {
        Cell cell = unit.mutations[0].cells[0];
        cell.qualifier = fmt::format("c{:03}", column);
        unit.mutations[0].cells.push_back(std::move(cell));
      }
      batch.push_back(std::move(unit));
      if (batch.size() < 1000 && i + 1 < rows) continue;
      for (const auto& result : world.MutateBatch(*server->region, std::exchange(batch, {})))
        RATCHET_CHECK(result.ok(), "a put failed");
    }
    server->region->Flush().value();
  }
  // Null: no filter.
  std::uint64_t Scan(const pb::Filter* filter) {
    ScanSpec spec;
    if (filter != nullptr) spec.filter = DecodeFilter(*filter, {}).value();
    auto scanner = server->region->Scan(std::move(spec)).value();
    ScanLimits limits;
    limits.max_bytes = 2U << 20;
    CountingSink sink;
    while (scanner->Next(limits, sink).value().more_in_region) {
    }
    return sink.cells;
  }
  void Report(const char* what, const pb::Filter* filter, int rounds) {
    double best = 0;
    std::uint64_t cells = 0;
    for (int round = 0; round < rounds; ++round) {
      std::timespec before{};
      std::timespec after{};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
      cells = Scan(filter);
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
      const double spent = static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
                           static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e6;
      best = round == 0 ? spent : std::min(best, spent);
    }
    fmt::print("{:<62} {:>9} cells  {:>9.2f} ms\n", what, cells, best);
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

void Measure(std::size_t rows, int rounds) {
  Place tall;
  tall.Fill(rows, 1);
  tall.Report("full scan", nullptr, rounds);
  std::vector<TestedRange> ranges;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::size_t first = i * (rows / 100);
    ranges.push_back({RowName(first), true, RowName(first + 10), false});
  }
  const pb::Filter multi = RangesOf(ranges);
  tall.Report("MultiRowRangeFilter, 100 ranges of 10 rows", &multi, rounds);
  std::vector<pb::Filter> each;
  for (const TestedRange& range : ranges) each.push_back(PrefixOf(range.start.substr(0, range.start.size() - 1)));
  const pb::Filter prefixes = AnyOf(each);
  tall.Report("the same rows by a FilterList of 100 PrefixFilters: no jumps", &prefixes, rounds);
  const pb::Filter fuzzy = FuzzyOf({{"row?????0777", std::string("\0\0\0\1\1\1\1\1\0\0\0\0", 12)}});
  tall.Report("FuzzyRowFilter, row?????0777", &fuzzy, rounds);
  pb::RegexStringComparator regex;
  regex.set_pattern("^row.....0777$");
  regex.set_pattern_flags(32);
  regex.set_charset("UTF-8");
  const pb::Filter matched =
      CompareFilterOf<pb::RowFilter>("RowFilter", pb::EQUAL, NamedComparator("RegexStringComparator", regex));
  tall.Report("the same rows by a RowFilter with an expression: no jumps", &matched, rounds);

  Place wide;
  wide.Fill(rows / kColumns, kColumns);
  wide.Report(fmt::format("full scan, rows of {} columns", kColumns).c_str(), nullptr, rounds);
  const pb::Filter page = ColumnPageOf(1, 0);
  wide.Report("ColumnPaginationFilter, the first column", &page, rounds);
  const pb::Filter from = ColumnPageFrom(1, "c015");
  wide.Report("ColumnPaginationFilter, one column from the 16th", &from, rounds);
}

}  // namespace
}  // namespace ratchet::regionserver

int main(int argc, char** argv) {
  ratchet::ConfigureLog({ratchet::LogLevel::kError, {}});
  const std::size_t rows = argc > 1 ? std::stoul(argv[1]) : 1'000'000;
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 3;
  ratchet::regionserver::Measure(rows, rounds);
  return 0;
}
