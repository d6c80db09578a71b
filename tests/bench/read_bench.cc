// Measures a region server's processor time for one row or cell that is read into a cell block, without network and
// disk: rows from memory stores and from store files with cached blocks.
//
// read_bench [rows] [rounds] [case]. Prints one line a case: the best round, and the median. `case`: only cases whose
// names contain it are measured. Keys and values are fixed.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/model/cell_codec.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kChunkBytes = 2U << 20;
constexpr std::size_t kValueBytes = 100;

class BlockSink final : public ScanSink {
 public:
  void Add(const CellView& cell) override {
    AppendCell(cell, block);
    ++cells;
  }
  void EndResult(bool) override {}
  std::string block;
  std::uint64_t cells = 0;
};

std::string RowName(std::size_t i) { return fmt::format("row{:09}", i); }

void PutRows(EngineWorld& world, Region& region, std::size_t begin, std::size_t end, std::size_t step) {
  std::vector<AtomicMutation> batch;
  for (std::size_t i = begin; i < end; i += step) {
    batch.push_back(Put(RowName(i), "q", std::string(kValueBytes, static_cast<char>('a' + i % 26))));
    if (batch.size() < 1000 && i + step < end) continue;
    for (const auto& result : world.MutateBatch(region, std::exchange(batch, {})))
      RATCHET_CHECK(result.ok(), "a put failed");
  }
}

std::uint64_t ScanIntoBlocks(Region& region, ScanSpec spec) {
  auto scanner = region.Scan(std::move(spec)).value();
  ScanLimits limits;
  limits.max_bytes = kChunkBytes;
  std::uint64_t cells = 0;
  for (bool more = true; more;) {
    BlockSink sink;
    more = scanner->Next(limits, sink).value().more_in_region;
    cells += sink.cells;
  }
  return cells;
}

std::string only;  // part of the names of the measured cases

void Report(const char* what, std::uint64_t count, int rounds, const std::function<std::uint64_t()>& run) {
  if (std::string_view(what).find(only) == std::string_view::npos) return;
  std::vector<double> nanoseconds;
  for (int round = 0; round < rounds; ++round) {
    std::timespec before{};
    std::timespec after{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    const std::uint64_t done = run();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    if (done != count) {
      fmt::print("{}: {} instead of {}\n", what, done, count);
      std::exit(1);
    }
    const double spent =
        static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 + static_cast<double>(after.tv_nsec - before.tv_nsec);
    nanoseconds.push_back(spent / static_cast<double>(count));
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  fmt::print("{:<44} {:>9} cells  best {:>7.0f} ns/cell  median {:>7.0f}\n", what, count, nanoseconds.front(),
             nanoseconds[nanoseconds.size() / 2]);
}

struct Place {
  explicit Place(const std::string& filter = "ROW") {
    for (FamilyDescriptor& family : world.table.families) family.attributes["BLOOMFILTER"] = filter;
    world.settings.flush_bytes = world.settings.blocking_bytes = 8ULL << 30;
    world.settings.compaction_min_files = 100;
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
  }
  Region& region() { return *server->region; }
  EngineWorld world;
  std::unique_ptr<Server> server;
};

void MeasureTall(std::size_t rows, int rounds) {
  Place memory;
  PutRows(memory.world, memory.region(), 0, rows, 1);
  Report("scan, memory store", rows, rounds, [&] { return ScanIntoBlocks(memory.region(), {}); });
  memory.region().Flush().value();
  Report("scan, one file", rows, rounds, [&] { return ScanIntoBlocks(memory.region(), {}); });
  ScanSpec reversed;
  reversed.reversed = true;
  Report("scan reversed, one file", rows, rounds, [&] { return ScanIntoBlocks(memory.region(), reversed); });
  Report("get, one file", rows / 10, rounds, [&] {
    Prng prng(7);
    for (std::size_t i = 0; i < rows / 10; ++i) {
      GetSpec get;
      get.row = RowName(prng.Below(rows));
      if (memory.region().Get(get).value().size() != 1) return std::uint64_t{0};
    }
    return std::uint64_t{rows / 10};
  });
  Place four;
  for (std::size_t file = 0; file < 4; ++file) {
    PutRows(four.world, four.region(), file, rows, 4);
    four.region().Flush().value();
  }
  Report("scan, four files", rows, rounds, [&] { return ScanIntoBlocks(four.region(), {}); });
}

// Each row is in one of four files, whose rows are mixed.
void MeasureGetsOfFourFiles(std::size_t rows, int rounds) {
  for (const char* filter : {"NONE", "ROW"}) {
    Place place(filter);
    for (std::size_t file = 0; file < 4; ++file) {
      PutRows(place.world, place.region(), file, rows, 4);
      place.region().Flush().value();
    }
    const auto read = [&](const char* suffix, std::size_t cells) {
      Prng prng(7);
      for (std::size_t i = 0; i < rows / 10; ++i) {
        GetSpec get;
        get.row = RowName(prng.Below(rows)) + suffix;
        if (place.region().Get(get).value().size() != cells) return std::uint64_t{0};
      }
      return std::uint64_t{rows / 10};
    };
    const std::string name = fmt::format("four files, BLOOMFILTER {}", filter);
    Report(fmt::format("get, {}", name).c_str(), rows / 10, rounds, [&] { return read("", 1); });
    Report(fmt::format("get of no row, {}", name).c_str(), rows / 10, rounds, [&] { return read("x", 0); });
    Report(fmt::format("scan of one row, {}", name).c_str(), rows / 10, rounds, [&] {
      Prng prng(7);
      std::uint64_t cells = 0;
      for (std::size_t i = 0; i < rows / 10; ++i) {
        ScanSpec scan;
        scan.start_row = scan.stop_row = RowName(prng.Below(rows));
        scan.include_stop_row = true;
        cells += ScanIntoBlocks(place.region(), std::move(scan));
      }
      return cells;
    });
  }
}

void MeasureWide(std::size_t rows, int rounds) {
  constexpr std::size_t kColumns = 100;
  Place wide;
  for (std::size_t i = 0; i < rows / kColumns; ++i) {
    AtomicMutation unit = Put(RowName(i), "", "");
    const Cell shape = unit.mutations[0].cells[0];
    unit.mutations[0].cells.clear();
    for (std::size_t column = 0; column < kColumns; ++column) {
      Cell cell = shape;
      cell.qualifier = fmt::format("q{:06}", column);
      cell.value = std::string(kValueBytes, 'v');
      unit.mutations[0].cells.push_back(cell);
    }
    RATCHET_CHECK(wide.world.Mutate(wide.region(), unit).value().ok(), "a put failed");
  }
  wide.region().Flush().value();
  const std::size_t whole = rows / kColumns;
  Report("scan, rows of 100 columns, one file", whole * kColumns, rounds,
         [&] { return ScanIntoBlocks(wide.region(), {}); });
  ScanSpec one;
  one.columns["f"] = {"q000050"};
  Report("the same, one column asked for", whole, rounds, [&] { return ScanIntoBlocks(wide.region(), one); });
}

}  // namespace
}  // namespace ratchet::regionserver

int main(int argc, char** argv) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace)
  ConfigureLog({LogLevel::kError, {}});
  const std::size_t rows = argc > 1 ? std::stoul(argv[1]) : 200'000;
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 5;
  if (argc > 3) regionserver::only = argv[3];
  regionserver::MeasureTall(rows, rounds);
  regionserver::MeasureGetsOfFourFiles(rows, rounds);
  regionserver::MeasureWide(rows, rounds);
  return 0;
}
