// The master's side of regions_bench.
#include <filesystem>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/io/disk.h"
#include "common/model/open_regions_digest.h"
#include "master/dispatch/dispatch_core.h"
#include "master/policy/placement.h"
#include "master/procedures/table/create_table.h"
#include "master/repair/reconciler.h"
#include "master/storage/file_retirer.h"
#include "tests/bench/regions_bench.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::bench {
namespace {

constexpr int kMasterRounds = 5;
constexpr std::size_t kRegionsPerTable = 1'000;

std::vector<ServerName> TenServers() {
  std::vector<ServerName> servers;
  for (int i = 0; i < 10; ++i) servers.push_back({fmt::format("host{}", i), 16020, 100});
  return servers;
}

// A simulated cluster of one server that has the given number of regions open by its rows.
class Cluster {
 public:
  explicit Cluster(std::size_t regions) {
    cluster_.Boot(1);
    const ServerName host = cluster_.Alive().front()->name();
    for (std::size_t i = 0; i < regions; ++i) {
      master::RegionRow row;
      row.region.table = TableName("default", fmt::format("t{}", i / kRegionsPerTable));
      row.region.start_key = fmt::format("{:06}", i);
      row.region.region_id = master::RegionIdFor(ProcId(7));
      row.state = RegionState::kOpen;
      row.location = row.target = host;
      row.transition = 5;
      const std::string encoded = row.region.encoded_name();
      online.push_back({encoded, 0});
      cluster_.meta().mutable_regions()[encoded] = row;
      if (i % kRegionsPerTable != 0) continue;
      TableDescriptor schema;
      schema.name = row.region.table;
      schema.families.push_back(DefaultFamily("f"));
      const std::string directory = fmt::format("default/t{}.7", i / kRegionsPerTable);
      cluster_.storage().tables[directory].descriptors[7] = schema;
      cluster_.meta().mutable_tables()[row.region.table] = {row.region.table, TableState::kEnabled, directory, 5};
    }
  }
  void StartMaster() {
    cluster_.StartMaster();
    const bool ready = cluster_.RunUntil([this] { return cluster_.master().ready(); });
    RATCHET_CHECK(ready && cluster_.master().logic().regions.size() > online.size(), "the master is not ready");
  }
  void Pass(Millis span) { cluster_.time().Advance(span); }
  master::Reconciler& reconciler() { return cluster_.master().logic().reconciler; }
  ServerName host() { return cluster_.Alive().front()->name(); }

  std::vector<master::OnlineRegion> online;

 private:
  sim::SimCluster cluster_;
};

}  // namespace

double PlacementBeside(std::size_t regions) {
  const std::vector<ServerName> servers = TenServers();
  const auto none = [](const std::vector<ServerName>& asked) { return std::vector<std::size_t>(asked.size(), 0); };
  master::Placement placement;
  for (std::size_t i = 0; i < regions; ++i) {
    master::PlacementRequest asked{fmt::format("{:032}", i), servers[i % servers.size()], {}, false, {}, {}};
    static_cast<void>(placement.Choose(asked, servers, none));
  }
  std::size_t next = regions;
  return BestOf(kMasterRounds, [&] {
    const master::PlacementRequest request{fmt::format("{:032}", next++), {}, {}, false, {}, {}};
    static_cast<void>(placement.Choose(request, servers, none));
  });
}

double DispatchBeside(std::size_t regions) {
  const ServerName server = TenServers().front();
  master::DispatchCore core({}, 1);
  const auto order = [](std::uint64_t pid) {
    master::CloseOrder close;
    close.id = {ProcId(pid), 1};
    return std::make_shared<const master::Order>(close);
  };
  std::uint64_t pid = 0;
  core.Add(server, order(++pid), master::OrderRank::kNormal, TimePoint());
  static_cast<void>(core.Take(TimePoint()));  // other orders gather while this one is in flight
  for (std::size_t i = 0; i < regions; ++i) core.Add(server, order(++pid), master::OrderRank::kNormal, TimePoint());
  return BestOf(kMasterRounds, [&] { core.Add(server, order(++pid), master::OrderRank::kNormal, TimePoint()); });
}

double SweepOf(std::size_t regions) {
  Cluster cluster(regions);
  cluster.StartMaster();
  cluster.Pass(Millis(5'000));
  cluster.reconciler().Sweep();
  return BestOf(kMasterRounds, [&] { cluster.reconciler().Sweep(); });
}

double FullListTaken(std::size_t regions) {
  Cluster cluster(regions);
  cluster.StartMaster();
  cluster.Pass(Millis(5'000));
  return BestOf(kMasterRounds, [&] { cluster.reconciler().OnHeartbeat(cluster.host(), cluster.online); });
}

double HeartbeatTaken(std::size_t regions) {
  Cluster cluster(regions);
  cluster.StartMaster();
  cluster.Pass(Millis(5'000));
  master::RegionList list;
  list.number = 1;
  list.open = cluster.online;
  list.size = list.open.size();
  for (const auto& region : list.open) list.digest += DigestOfOpenRegion(region.encoded, region.open_number);
  RATCHET_CHECK(cluster.reconciler().OnHeartbeat(cluster.host(), list) == 1, "the list is not taken");
  list.open.clear();
  return BestOf(kMasterRounds, [&] {
    list.base = list.number++;
    RATCHET_CHECK(cluster.reconciler().OnHeartbeat(cluster.host(), list) == list.number, "the list is not taken");
  });
}

double BootWith(std::size_t regions) {
  Cluster cluster(regions);
  return BestOf(1, [&] { cluster.StartMaster(); });
}

double CleanerRun(std::size_t regions, const std::string& dir) {
  std::filesystem::remove_all(dir);
  for (std::size_t i = 0; i < regions; ++i) {
    const std::string table = fmt::format("{}/data/default/t{}.7", dir, i / kRegionsPerTable);
    std::filesystem::create_directories(fmt::format("{}/{:032}", table, i));
  }
  io::Disk& disk = io::PosixDisk();
  const auto wals = disk.OpenOrMake(dir + "/wals").value();
  const auto data = disk.OpenOrMake(dir + "/data").value();
  const auto archive = disk.OpenOrMake(dir + "/archive").value();
  master::FileRetirer retirer(
      {*wals, *data, *archive, Epoch(1), [] { return Ok(); }, [](const ServerName&) { return true; }});
  const double us = BestOf(3, [&] { RATCHET_CHECK(retirer.RunOnce().ok(), "the cleaner failed"); });
  std::filesystem::remove_all(dir);
  return us;
}

}  // namespace ratchet::bench
