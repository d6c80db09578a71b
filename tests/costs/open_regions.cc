#include "tests/costs/open_regions.h"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/io/fenced_directory.h"
#include "common/model/codec.h"
#include "common/model/table_descriptor.h"
#include "regionserver/host/region_host.h"
#include "tests/support/manual_time.h"

namespace ratchet::costs {
namespace {

using namespace regionserver;  // NOLINT(google-build-using-namespace): the measured code
namespace pb = ::hbase::pb;

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

OpenOrder OrderFor(std::size_t number, const pb::TableSchema& schema) {
  const RegionInfo info = MeasuredRegion(number);
  OpenOrder order;
  order.pid = ProcId(number + 10);
  order.encoded_name = info.encoded_name();
  ToProto(info, order.region);
  order.open_number = number + 10;
  order.table_dir = "default/t.1";
  order.schema = schema;
  return order;
}

}  // namespace

RegionInfo MeasuredRegion(std::size_t number) {
  RegionInfo info;
  info.table = TableName("default", "t");
  info.start_key = fmt::format("{:08}", number);
  info.end_key = fmt::format("{:08}", number + 1);
  info.region_id = 77;
  return info;
}

std::uint64_t BytesAnOpenRegion(const std::string& dir, std::size_t regions,
                                const std::function<std::uint64_t()>& heap) {
  std::filesystem::remove_all(dir);
  const auto root = io::PosixDisk().OpenOrMake(dir).value();
  const auto wals = io::PosixDisk().OpenOrMake(dir + "/wals").value();
  const auto log_directory = io::FencedDirectory::Make(*wals, "host,1,100").value();
  ManualTime time;
  KeptWork lanes;
  HostOptions options;
  options.wal.prepare_next = false;
  options.damaged = [](const DamagedFile&) {};
  options.region.budget = std::make_shared<MemstoreBudget>();
  RegionHost host(*root, time, lanes, options, [](int, const std::string& why) { RATCHET_CHECK(false, "{}", why); });
  RATCHET_CHECK(host.wals.UseDirectory(*log_directory).ok(), "no log");
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families.push_back(DefaultFamily("f"));
  pb::TableSchema schema;
  ToProto(table, schema);
  const auto open = [&](std::size_t number) {
    const OpenOrder order = OrderFor(number, schema);
    std::filesystem::create_directories(dir + "/data/" + order.table_dir + "/" + order.encoded_name);
    RATCHET_CHECK(host.orders.Open(order).outcome == OrderOutcome::kOpened, "not opened");
    lanes.RunAll();
  };
  open(0);  // what all regions share
  static_cast<void>(host.regions.DrainChanges());
  const std::uint64_t before = heap();
  for (std::size_t number = 1; number <= regions; ++number) open(number);
  static_cast<void>(host.regions.DrainChanges());
  const std::uint64_t bytes = heap() - before;
  for (const auto& region : host.regions.All()) region->Abandon();
  host.wals.Stop();
  std::filesystem::remove_all(dir);
  return bytes / regions;
}

}  // namespace ratchet::costs
