// A region server's side of regions_bench: real regions on the disk double, each with an entry in the log.
#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/io/fenced_directory.h"
#include "common/model/codec.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/host/region_host.h"
#include "regionserver/host/region_report.h"
#include "tests/bench/regions_bench.h"
#include "tests/support/sim_disk.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::bench {
namespace {

using namespace regionserver;

constexpr int kServerRounds = 5;

class NoLanes final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> /*work*/) override {}
};

}  // namespace

ServerCosts ServerWith(std::size_t regions) {
  io::SimDisk disk;
  const auto process = disk.NewProcess();
  const auto root = process->OpenOrMake("/root").value();
  const auto wals = process->OpenOrMake("/root/wals").value();
  const auto log_directory = io::FencedDirectory::Make(*wals, "host,1,100").value();
  SystemClock clock;
  NoLanes lanes;
  HostOptions options;
  options.wal.prepare_next = false;
  options.wal.roll_bytes = 1u << 30;
  RegionHost host(*root, clock, lanes, options, [](int, const std::string& why) { RATCHET_CHECK(false, "{}", why); });
  RATCHET_CHECK(host.wals.UseDirectory(*log_directory).ok(), "no log");
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families.push_back(DefaultFamily("f"));
  hbase::pb::TableSchema schema;
  ToProto(table, schema);
  Mutex mutex;
  CondVar done;
  std::size_t left = regions;
  for (std::size_t i = 0; i < regions; ++i) {
    RegionInfo info;
    info.table = table.name;
    info.start_key = fmt::format("{:06}", i);
    info.region_id = 77;
    OpenOrder order;
    order.pid = ProcId(i + 10);
    order.encoded_name = info.encoded_name();
    ToProto(info, order.region);
    order.open_number = i + 10;
    // 1,000 regions per table, to keep the directories of the simulated disk small
    order.table_dir = fmt::format("default/t.{}", i / 1'000 + 1);
    order.schema = schema;
    RATCHET_CHECK(process->OpenOrMake("/root/data/" + order.table_dir + "/" + order.encoded_name).ok(), "no directory");
    RATCHET_CHECK(host.orders.Open(order).outcome == OrderOutcome::kOpened, "not opened");
    host.regions.Find(order.encoded_name)
        .value()
        ->Mutate(Put(info.start_key, "q", "v"), [&](const Result<MutationResult>& result) {
          RATCHET_CHECK(result.ok(), "a put failed");
          MutexLock lock(mutex);
          if (--left == 0) done.NotifyAll();
        });
  }
  {
    MutexLock lock(mutex);
    while (left > 0) done.Wait(mutex);
  }
  ServerCosts costs;
  RegionReport report([&host] { return host.regions.DrainChanges(); }, clock);
  const auto beat = [&report] {
    hbase::pb::RegionServerReportRequest request;
    report.Fill(request);
    hbase::pb::RegionServerReportResponse answer;
    answer.set_list_taken(request.list_number());
    report.Answered(&answer);
  };
  costs.first_heartbeat = BestOf(1, beat);
  costs.heartbeat = BestOf(kServerRounds, beat);
  costs.logs = BestOf(kServerRounds, [&] { host.wals.LookAfterLogs(); });
  for (const auto& region : host.regions.All()) region->Abandon();
  host.wals.Stop();
  return costs;
}

}  // namespace ratchet::bench
