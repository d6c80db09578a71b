// Measures the memory that a region server needs for each open region: regions without data, on the operating system's
// files, opened as a master's orders open them. Not a test.
//
// region_memory_bench [regions] [dir]. Prints the bytes of the heap for each region, beyond those of the server.
#include <malloc.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/io/fenced_directory.h"
#include "common/model/codec.h"
#include "common/model/table_descriptor.h"
#include "regionserver/host/region_host.h"

namespace ratchet::regionserver {
namespace {

// Keeps work until RunAll.
class KeptWork final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> work) override { kept_.push_back(std::move(work)); }
  void RunAll() {
    for (const auto& work : std::exchange(kept_, {})) work();
  }

 private:
  std::vector<std::function<void()>> kept_;
};

std::size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

OpenOrder OrderFor(std::size_t number, const hbase::pb::TableSchema& schema) {
  RegionInfo info;
  info.table = TableName("default", "t");
  info.start_key = fmt::format("{:08}", number);
  info.end_key = fmt::format("{:08}", number + 1);
  info.region_id = 77;
  OpenOrder order;
  order.pid = ProcId(number + 10);
  order.encoded_name = info.encoded_name();
  ToProto(info, order.region);
  order.open_number = number + 10;
  order.table_dir = "default/t.1";
  order.schema = schema;
  return order;
}

void Measure(std::size_t regions, const std::string& dir) {
  std::filesystem::remove_all(dir);
  const auto root = io::PosixDisk().OpenOrMake(dir).value();
  const auto wals = io::PosixDisk().OpenOrMake(dir + "/wals").value();
  const auto log_directory = io::FencedDirectory::Make(*wals, "host,1,100").value();
  SystemClock clock;
  KeptWork lanes;
  HostOptions options;
  options.wal.prepare_next = false;
  options.damaged = [](const DamagedFile&) {};
  options.region.budget = std::make_shared<MemstoreBudget>();
  RegionHost host(*root, clock, lanes, options, [](int, const std::string& why) { RATCHET_CHECK(false, "{}", why); });
  RATCHET_CHECK(host.wals.UseDirectory(*log_directory).ok(), "no log");
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families.push_back(DefaultFamily("f"));
  hbase::pb::TableSchema schema;
  ToProto(table, schema);
  const auto open = [&](std::size_t number) {
    const OpenOrder order = OrderFor(number, schema);
    std::filesystem::create_directories(dir + "/data/" + order.table_dir + "/" + order.encoded_name);
    RATCHET_CHECK(host.orders.Open(order).outcome == OrderOutcome::kOpened, "not opened");
    lanes.RunAll();
  };
  open(0);  // what all regions share
  static_cast<void>(host.regions.DrainChanges());
  const std::size_t before = HeapBytes();
  for (std::size_t number = 1; number <= regions; ++number) open(number);
  static_cast<void>(host.regions.DrainChanges());
  fmt::print("RESULT [regions={}, bytes a region={}]\n", regions, (HeapBytes() - before) / regions);
  for (const auto& region : host.regions.All()) region->Abandon();
  host.wals.Stop();
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace ratchet::regionserver

int main(int argc, char** argv) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace)
  ConfigureLog({LogLevel::kError, {}});
  regionserver::Measure(argc > 1 ? std::stoul(argv[1]) : 2'000, argc > 2 ? argv[2] : "build/bench/region_memory");
  return 0;
}
