#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/model/cell_codec.h"
#include "tests/costs/measured.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::costs {
namespace {

using namespace regionserver;  // NOLINT(google-build-using-namespace): the measured code

constexpr std::size_t kRows = 2'000;
constexpr std::size_t kOperations = 500;
constexpr std::uint64_t kChunkBytes = 64U << 10U;

class BlockSink final : public ScanSink {
 public:
  void Add(const CellView& cell) override {
    AppendCell(cell, block);
    ++cells;
  }
  void EndResult(bool /*partial*/) override {}
  std::string block;
  std::size_t cells = 0;
};

std::string RowName(std::size_t row) { return fmt::format("row{:09}", row); }

struct Place {
  Place() {
    for (FamilyDescriptor& family : world.table.families) family.attributes["BLOOMFILTER"] = "ROW";
    world.log_options.prepare_next = false;
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
    std::vector<AtomicMutation> batch;
    for (std::size_t row = 0; row < kRows; ++row) batch.push_back(Put(RowName(row), "q", std::string(100, 'v')));
    for (const auto& result : world.MutateBatch(region(), std::move(batch))) RATCHET_CHECK(result.ok(), "a put failed");
    region().Flush().value();
  }
  Region& region() { return *server->region; }

  EngineWorld world;
  std::unique_ptr<Server> server;
  std::size_t next = 0;
};

}  // namespace

std::vector<Operation> RegionOperations() {
  const auto place = std::make_shared<Place>();
  const auto get = [place] {
    for (std::size_t i = 0; i < kOperations; ++i) {
      GetSpec spec;
      spec.row = RowName(i * 37 % kRows);
      RATCHET_CHECK(place->region().Get(spec).value().size() == 1, "a get found no cell");
    }
  };
  const auto put = [place] {
    for (std::size_t i = 0; i < kOperations; ++i)
      RATCHET_CHECK(place->world.Mutate(place->region(), Put(RowName(place->next++), "q", std::string(100, 'w')))->ok(),
                    "a put failed");
  };
  const auto scan = [place] {
    auto scanner = place->region().Scan({}).value();
    ScanLimits limits;
    limits.max_bytes = kChunkBytes;
    std::size_t cells = 0;
    for (bool more = true; more;) {
      BlockSink sink;
      more = scanner->Next(limits, sink).value().more_in_region;
      cells += sink.cells;
    }
    RATCHET_CHECK(cells == kRows, "the scan returned {} cells", cells);
  };
  // The scan precedes the puts, so that it reads the file only.
  return {{"server.get", kOperations, get}, {"server.scanned_cell", kRows, scan}, {"server.put", kOperations, put}};
}

}  // namespace ratchet::costs
