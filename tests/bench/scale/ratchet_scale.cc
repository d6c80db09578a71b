// ratchet-scale: costs of a cluster with many servers and regions. The master and the server of hbase:meta are the
// shipped programs; all other servers are simulated in this process, speak the real protocol, and have no data.
//
// Phases: servers register; tables are created; the cluster rests; servers die; the master is killed and starts again.
// For each it prints the rate and the costs of the master for one region. Build it in the release preset.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/base/log.h"
#include "common/client/drain.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/scale/simulated_servers.h"
#include "tests/support/http_client.h"
#include "tests/support/metrics_parser.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::bench;  // NOLINT(google-build-using-namespace)

struct Options {
  std::size_t servers = 10;
  std::size_t regions = 10'000;
  std::size_t regions_of_table = 1'000;
  std::size_t tables_at_once = 8;
  std::size_t kill = 1;
  std::int64_t delay_ms = 2;
  std::size_t loads = 0;
  bool measure_lock = false;
  int rest_seconds = 10;
  std::string dir = "ratchet-scale.data";
  std::string bin;
};

constexpr const char* kMaster = "master-1";
constexpr const char* kMetaServer = "rs-1";
constexpr Millis kLongest{1'800'000};
constexpr int kStatusCalls = 100;

double FieldOfStatus(pid_t pid, const std::string& field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return std::strtod(line.c_str() + field.size() + 1, nullptr);
  return 0;
}

double ProcessorSeconds(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double kernel = 0;
  fields >> user >> kernel;
  return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Counters of the master since its start, and of the server of hbase:meta.
struct Costs {
  double seconds = 0;  // by the clock
  double batches = 0;
  double records = 0;
  double bytes = 0;
  double syncs = 0;
  double meta_calls = 0;
  double processor = 0;
  double meta_processor = 0;
  double longest_hold = 0;  // of the executor's lock since the master's start; 0: not measured
};

class Scale {
 public:
  explicit Scale(const Options& options) : options_(options) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
      files.rlim_cur = files.rlim_max;
      ::setrlimit(RLIMIT_NOFILE, &files);
    }
    BenchCluster::Options cluster;
    cluster.dir = options.dir;
    cluster.bin = options.bin;
    cluster.servers = 1;
    if (options.measure_lock) cluster.master_flags = {"--measure-procedure-lock", "true"};
    cluster_ = std::make_unique<BenchCluster>(cluster);
  }

  void Run() {
    Register();
    Create();
    Rest();
    Status();
    Crash();
    Failover();
  }

 private:
  // No region of the tables comes to the server of hbase:meta, and nothing moves hbase:meta away.
  void ReserveMetaServer() {
    client::Admin admin = cluster_->admin();
    hbase::pb::SetBalancerRunningRequest balancer;
    balancer.set_on(false);
    Require(admin.Call(methods::kSetBalancerRunning, balancer));
    hbase::pb::DecommissionRegionServersRequest reserve;
    reserve.set_offload(false);
    const auto status = Take(cluster_->cluster().StatusOf(kMaster));
    *reserve.add_server_name() = status.meta_server();
    Require(admin.Call(methods::kDecommissionRegionServers, reserve));
  }

  void Register() {
    servers_ = Take(SimulatedServers::Connect(cluster_->cluster().root().string(), cluster_->cluster().zookeeper(),
                                              Millis(options_.delay_ms), options_.loads));
    const Costs before = Look();
    Require(servers_->Start(options_.servers));
    const Costs after = Look();
    std::printf("%zu simulated servers registered in %.2f s; master's memory %.1f MB\n", options_.servers,
                after.seconds - before.seconds, Resident());
    std::fflush(stdout);
    ReserveMetaServer();
  }

  void Create() {
    const double memory = Resident();
    const Costs before = Look();
    std::atomic<std::size_t> next{0};
    const std::size_t tables = (options_.regions + options_.regions_of_table - 1) / options_.regions_of_table;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < options_.tables_at_once; ++i)
      threads.emplace_back([&] {
        for (std::size_t table = next++; table < tables; table = next++) CreateTable(table);
      });
    for (std::thread& thread : threads) thread.join();
    Print("create", options_.regions, before);
    const double at_end = Resident();
    std::printf("  memory of the master: %.0f B a region, at most %.0f B more meanwhile\n",
                (at_end - memory) * 1e6 / static_cast<double>(options_.regions),
                (Peak() - at_end) * 1e6 / static_cast<double>(options_.regions));
    std::fflush(stdout);
  }

  void CreateTable(std::size_t number) {
    client::Admin admin(cluster_->connection(), kLongest);
    TableDescriptor table;
    table.name = {"default", fmt::format("t{:05}", number)};
    table.families.push_back(DefaultFamily("f"));
    const std::size_t first = number * options_.regions_of_table;
    const std::size_t count = std::min(options_.regions_of_table, options_.regions - first);
    std::vector<std::string> splits;
    for (std::size_t i = 1; i < count; ++i) splits.push_back(fmt::format("{:08}", i));
    Require(admin.WaitOk(admin.CreateTable(table, splits)));
  }

  void Rest() {
    const TimePoint created = clock_.Now();
    Require(chaos::ProcessCluster::WaitUntil("the loads of all regions", kLongest,
                                             [&] { return servers_->held() >= options_.regions; }));
    std::printf("the master has the loads of all regions after %.1f s\n", MillisSince(created) / 1000);
    const Costs before = Look();
    const TimePoint begin = clock_.Now();
    while (MillisSince(begin) < options_.rest_seconds * 1000.0) chaos::PollPause(100);
    const Costs after = Look();
    std::printf("rest of %d s: the master uses %.1f %% of a core, and has %.1f MB\n", options_.rest_seconds,
                100 * (after.processor - before.processor) / (after.seconds - before.seconds), Resident());
    std::fflush(stdout);
  }

  void Status() {
    Spread calls;
    for (int i = 0; i < kStatusCalls; ++i) {
      const TimePoint begin = clock_.Now();
      Require(cluster_->cluster().StatusOf(kMaster));
      calls.samples.push_back(MillisSince(begin));
    }
    calls.Print("ratchet status");
    std::fflush(stdout);
  }

  void Crash() {
    if (options_.kill == 0) return;
    const Costs before = Look();
    const std::uint64_t all = servers_->open();
    Require(servers_->Kill(options_.kill));
    const std::uint64_t moved = all - servers_->open();
    Await("regions of dead servers", all);
    Print(fmt::format("crash of {} servers", options_.kill).c_str(), moved, before);
  }

  void Failover() {
    Require(cluster_->cluster().Kill9(kMaster));
    const TimePoint begin = clock_.Now();
    Require(cluster_->cluster().Start(kMaster));
    Require(cluster_->cluster().WaitServing(kLongest));
    std::printf("master started again: serves after %.2f s; memory %.1f MB, at most %.1f MB\n",
                MillisSince(begin) / 1000, Resident(), Peak());
  }

  void Await(const std::string& what, std::uint64_t open) {
    Require(chaos::ProcessCluster::WaitUntil(what, kLongest, [&] {
      if (servers_->open() != open) return false;
      const auto status = cluster_->cluster().StatusOf(kMaster);
      return status.ok() && status->procedures_unfinished() == 0 && status->regions_in_transition() == 0;
    }));
  }

  [[nodiscard]] Costs Look() {
    Costs costs;
    costs.seconds = std::chrono::duration<double>(clock_.Now().time_since_epoch()).count();
    const metrics::ParsedMetrics master = MetricsOf(kMaster);
    costs.batches = master.Value("ratchet_store_batches_total");
    costs.records = master.Value("ratchet_store_records_total");
    costs.bytes = master.Value("ratchet_store_written_bytes_total");
    costs.syncs = master.Value("ratchet_store_sync_duration_seconds_count");
    costs.longest_hold = master.Value("ratchet_procedure_lock_longest_hold_seconds");
    costs.processor = ProcessorSeconds(cluster_->cluster().Info(kMaster).id.pid);
    costs.meta_processor = ProcessorSeconds(cluster_->cluster().Info(kMetaServer).id.pid);
    const auto calls = MetricsOf(kMetaServer).families;
    for (const auto& [name, family] : calls) {
      if (name != "ratchet_rpc_calls_total") continue;
      for (const metrics::Sample& sample : family.samples) {
        const auto method = sample.labels.find("method");
        if (method != sample.labels.end() && (method->second == "Mutate" || method->second == "Multi"))
          costs.meta_calls += sample.value;
      }
    }
    return costs;
  }

  [[nodiscard]] metrics::ParsedMetrics MetricsOf(const std::string& process) {
    const std::string mark = "Start: page at http://127.0.0.1:";
    const std::string line = Take(cluster_->cluster().WaitLog(process, mark, Millis(60'000)));
    const auto page =
        static_cast<std::uint16_t>(std::strtoul(line.c_str() + line.find(mark) + mark.size(), nullptr, 10));
    const std::string answer = http::Fetch(page, "/metrics");
    return metrics::ParseMetrics(answer.substr(answer.find("\r\n\r\n") + 4));
  }

  void Print(const char* what, std::uint64_t regions, const Costs& before) {
    const Costs after = Look();
    const auto count = static_cast<double>(std::max<std::uint64_t>(regions, 1));
    const double seconds = after.seconds - before.seconds;
    std::printf(
        "%s: %.0f regions in %.2f s, %.0f a second\n"
        "  for 1,000 regions: %.1f commits, %.0f records, %.0f kB, %.1f syncs, %.1f calls to hbase:meta\n"
        "  processor time for a region: master %.0f us, server of hbase:meta %.0f us\n",
        what, count, seconds, count / seconds, (after.batches - before.batches) * 1000 / count,
        (after.records - before.records) * 1000 / count, (after.bytes - before.bytes) / count,
        (after.syncs - before.syncs) * 1000 / count, (after.meta_calls - before.meta_calls) * 1000 / count,
        (after.processor - before.processor) * 1e6 / count,
        (after.meta_processor - before.meta_processor) * 1e6 / count);
    if (options_.measure_lock)
      std::printf("  longest hold of the executor's lock, of all phases until now: %.2f ms\n",
                  after.longest_hold * 1000);
    std::fflush(stdout);
  }

  [[nodiscard]] double Resident() {  // MB
    return FieldOfStatus(cluster_->cluster().Info(kMaster).id.pid, "VmRSS") / 1000;
  }
  [[nodiscard]] double Peak() { return FieldOfStatus(cluster_->cluster().Info(kMaster).id.pid, "VmHWM") / 1000; }

  const Options options_;
  const SystemClock clock_;
  std::unique_ptr<BenchCluster> cluster_;
  std::unique_ptr<SimulatedServers> servers_;  // ends before the cluster
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Costs of a cluster with many servers and regions: one real master, simulated region servers."};
  app.add_option("--servers", options.servers, "simulated region servers")->capture_default_str();
  app.add_option("--regions", options.regions, "regions of all tables")->capture_default_str();
  app.add_option("--regions-of-table", options.regions_of_table, "regions of one table")->capture_default_str();
  app.add_option("--tables-at-once", options.tables_at_once, "tables that are created at the same time")
      ->capture_default_str();
  app.add_option("--kill", options.kill, "servers that die")->capture_default_str();
  app.add_option("--delay-ms", options.delay_ms, "time from an order to its answer")->capture_default_str();
  app.add_option("--loads", options.loads, "regions of a server whose load changes from one heartbeat to the next")
      ->capture_default_str();
  app.add_flag("--measure-lock", options.measure_lock, "print the longest hold of the executor's lock");
  app.add_option("--rest-seconds", options.rest_seconds, "length of the rest")->capture_default_str();
  app.add_option("--dir", options.dir, "directory of the cluster; it is removed")->capture_default_str();
  app.add_option("--bin", options.bin, "directory of the programs; empty: this program's");
  CLI11_PARSE(app, argc, argv);
  ConfigureLog({LogLevel::kError, ""});
  Scale(options).Run();
  return 0;
}
