// detect_bench: measures on real processes how soon a fault of a region server is noticed, and how soon the last of its
// regions is served again; and for the active master, how soon its successor makes the next durable step of an
// unfinished procedure. The ZooKeeper session is 10 s, so that it does not help.
//
// Options: --fault kill,stop,cut,master (SIGKILL; SIGSTOP; all links of the server held; SIGKILL of the active master),
// --rss-mb 100,1000 (resident memory of each server), --runs 3, --regions 30, --servers 4, --warm-ms 15000 (time before
// a fault of which only silence is seen), --master-flag FLAG (of every master, may be repeated), --dir PATH, --bin
// PATH.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "chaos/cluster/process_cluster.h"
#include "chaos/mttr/master_failover.h"
#include "chaos/network/links.h"
#include "common/base/log.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/bench/bench_cluster.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::bench;  // NOLINT(google-build-using-namespace)
using namespace ratchet::chaos;  // NOLINT(google-build-using-namespace)

constexpr Millis kPatience{120'000};
constexpr Millis kSession{10'000};
constexpr int kPollRound = 1;

struct Options {
  std::vector<std::string> faults{"kill", "stop", "cut", "master"};
  std::vector<std::string> rss_mb{"100", "1000"};
  std::vector<std::string> master_flags;
  int runs = 3;
  int regions = 30;
  int servers = 4;
  Millis warm{15'000};
  std::filesystem::path dir = "detect_bench.data";
  std::filesystem::path bin;
};

const SystemClock kClock;

// Puts a proxy in front of every master and region server, and between each of them and ZooKeeper.
class Wiring {
 public:
  explicit Wiring(ProcessCluster& cluster) {
    const std::uint16_t zookeeper = cluster.Info("zookeeper").port;
    std::vector<ProxiedPort> ports;
    for (const auto& info : cluster.Processes()) {
      if (info.role == Role::kZooKeeper) continue;
      names_.push_back(info.name);
      const std::uint16_t listens = Take(PickFreePort());
      const std::uint16_t to_zookeeper = Take(PickFreePort());
      ports.push_back({info.name, "", info.port, listens});
      ports.push_back({"zookeeper", info.name, to_zookeeper, zookeeper});
      environment_[info.name] = {{"RATCHET_LISTEN_PORT", std::to_string(listens)},
                                 {"RATCHET_ZOOKEEPER", fmt::format("127.0.0.1:{}", to_zookeeper)}};
    }
    names_.emplace_back("zookeeper");
    links_ = Take(Links::Start(std::move(ports), /*seed=*/1));
  }
  [[nodiscard]] Environment Of(const std::string& name) const { return environment_.at(name); }
  void Cut(const std::string& victim) {
    links_->Set({"client", victim}, LinkMode::Blackhole());
    for (const auto& other : names_) {
      if (other == victim) continue;
      links_->Set({victim, other}, LinkMode::Blackhole());
      links_->Set({other, victim}, LinkMode::Blackhole());
    }
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, Environment> environment_;
  std::unique_ptr<Links> links_;
};

// One cluster, one fault.
class Measurement {
 public:
  Measurement(const Options& options, std::string fault, const std::string& rss_mb)
      : options_(options), fault_(std::move(fault)) {
    std::filesystem::remove_all(options.dir);
    ClusterSpec spec;
    spec.dir = std::filesystem::absolute(options.dir);
    spec.bin = options.bin;
    spec.masters = 1;
    spec.servers = options.servers;
    spec.session_timeout = kSession;
    spec.master_flags = options.master_flags;
    cluster_ = Take(ProcessCluster::Create(spec));
    if (fault_ == "cut") wiring_ = std::make_unique<Wiring>(*cluster_);
    for (const auto& name : cluster_->Names(Role::kMaster)) Start(name);
    const std::filesystem::path bin =
        options.bin.empty() ? std::filesystem::canonical("/proc/self/exe").parent_path() : options.bin;
    for (const auto& name : cluster_->Names(Role::kRegionServer))
      Start(name, {{"LD_PRELOAD", (bin / "libratchet_ballast.so").string()}, {"RATCHET_BALLAST_MB", rss_mb}});
    Require(cluster_->WaitServing(kPatience));
    ChooseVictim();
    client::ConnectionOptions connect;
    connect.zookeeper = cluster_->zookeeper();
    connect.user = "bench";
    connect.rpc_timeout = Millis{500};
    connection_ = Take(client::Connection::Open(connect));
    MakeTable();
  }
  ~Measurement() {
    connection_->Close();
    cluster_->KillAll();
    cluster_.reset();
    std::filesystem::remove_all(options_.dir);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Milliseconds from the fault.
  struct Times {
    double suspected = 0;
    double served = 0;
    std::string why;
  };
  Times Run() {
    if (fault_ != "kill") WaitFor(options_.warm);
    const std::int64_t begun = kClock.WallMillis();
    Break();
    Times times;
    Require(chaos::WaitUntil("the crash procedure", kPatience, [&] { return FindCrash(times, begun); }));
    client::Table table(*connection_, name_);
    for (const auto& location : lost_) Require(table.Get({location.region.start_key + "!", {}, 1, {}}));
    times.served = static_cast<double>(kClock.WallMillis() - begun);
    return times;
  }
  [[nodiscard]] std::size_t lost() const { return lost_.size(); }

 private:
  static void WaitFor(Millis duration) {
    for (const TimePoint until = kClock.Now() + duration; kClock.Now() < until;) PollPause(kPollRound);
  }
  void Start(const std::string& name, const Environment& extra = {}) {
    Environment environment = wiring_ == nullptr ? Environment{} : wiring_->Of(name);
    environment.insert(extra.begin(), extra.end());
    Require(cluster_->Start(name, environment));
  }
  void ChooseVictim() {
    const std::string meta = Take(cluster_->MetaHolder());
    for (const auto& name : cluster_->Names(Role::kRegionServer)) {
      if (name != meta) victim_ = name;
    }
  }
  void MakeTable() {
    TableDescriptor descriptor;
    descriptor.name = name_;
    descriptor.families.push_back(DefaultFamily("f"));
    std::vector<std::string> splits;
    for (int i = 1; i < options_.regions * options_.servers; ++i) splits.push_back(fmt::format("{:06}", i));
    client::Admin admin(*connection_, kPatience);
    Require(admin.WaitOk(admin.CreateTable(descriptor, splits)));
    const std::uint16_t port = cluster_->Info(victim_).port;
    for (const auto& location : Take(admin.Regions(name_))) {
      if (location.server.port == port) lost_.push_back(location);
    }
    if (lost_.empty()) EndWith(Error(Code::kNotFound, "no region is on " + victim_));
  }
  void Break() {
    if (fault_ == "kill") return Require(cluster_->Kill9(victim_));
    if (fault_ == "stop") return Require(cluster_->Pause(victim_));
    wiring_->Cut(victim_);
  }
  bool FindCrash(Times& times, std::int64_t begun) {
    client::Admin admin(*connection_);
    const auto servers = admin.Call(methods::kListServers, ratchet::pb::ListServersRequest());
    if (!servers.ok()) return false;
    const ServerName& dead = lost_.front().server;
    for (const auto& row : servers->server()) {
      if (row.server().port() != dead.port || row.server().start_code() != dead.start_code) continue;
      if (!row.has_crash_procedure()) return false;
      ratchet::pb::GetProcedureRequest request;
      request.set_pid(row.crash_procedure());
      const auto answer = admin.Call(methods::kGetProcedure, request);
      if (!answer.ok()) return false;
      times.suspected = static_cast<double>(answer->procedure().submitted_wall_ms()) - static_cast<double>(begun);
      times.why = answer->procedure().text();
      return true;
    }
    return false;
  }

  const Options& options_;
  const std::string fault_;
  const TableName name_{"default", "bench"};
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<Wiring> wiring_;  // null: no proxies
  std::unique_ptr<client::Connection> connection_;
  std::string victim_;
  std::vector<client::RegionLocation> lost_;
};

void MeasureServer(const Options& options, const std::string& fault, const std::string& rss_mb) {
  Spread suspected;
  Spread served;
  std::string why;
  std::size_t regions = 0;
  for (int i = 0; i < options.runs; ++i) {
    Measurement one(options, fault, rss_mb);
    const auto times = one.Run();
    suspected.samples.push_back(times.suspected);
    served.samples.push_back(times.served);
    why = times.why;
    regions = one.lost();
  }
  const std::string what = fmt::format("{}, {} MB", fault, rss_mb);
  suspected.Print((what + ": suspected").c_str());
  served.Print(fmt::format("{}: last of {} regions", what, regions).c_str());
  std::printf("  %s\n", why.c_str());
  std::fflush(stdout);
}

void MeasureMaster(const Options& options) {
  Spread elected;
  Spread step;
  for (int i = 0; i < options.runs; ++i) {
    std::filesystem::remove_all(options.dir);
    const auto failover = Take(MeasureMasterFailover({std::filesystem::absolute(options.dir), 1, kSession}));
    if (!failover.phases.detect || !failover.phases.first_success)
      EndWith(Error(Code::kInternal, "the log of the new master does not show its election and its first step"));
    elected.samples.push_back(static_cast<double>(*failover.phases.detect));
    step.samples.push_back(static_cast<double>(*failover.phases.first_success));
  }
  std::filesystem::remove_all(options.dir);
  elected.Print("master: elected");
  step.Print("master: next durable step");
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

Options Parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const char*)>> known{
      {"--fault", [&](const char* value) { options.faults = Split(value); }},
      {"--rss-mb", [&](const char* value) { options.rss_mb = Split(value); }},
      {"--runs", [&](const char* value) { options.runs = std::max(1, std::atoi(value)); }},
      {"--regions", [&](const char* value) { options.regions = std::max(1, std::atoi(value)); }},
      {"--servers", [&](const char* value) { options.servers = std::max(2, std::atoi(value)); }},
      {"--warm-ms", [&](const char* value) { options.warm = Millis(std::atoi(value)); }},
      {"--master-flag", [&](const char* value) { options.master_flags.emplace_back(value); }},
      {"--dir", [&](const char* value) { options.dir = value; }},
      {"--bin", [&](const char* value) { options.bin = value; }},
  };
  for (int i = 1; i < argc; i += 2) {
    const auto found = known.find(argv[i]);
    if (found == known.end() || i + 1 == argc) {
      std::fprintf(stderr, "detect_bench: unknown option, or no value: %s\n", argv[i]);
      std::exit(2);
    }
    found->second(argv[i + 1]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  const Options options = Parse(argc, argv);
  for (const std::string& fault : options.faults) {
    if (fault == "master") {
      MeasureMaster(options);
      continue;
    }
    for (const std::string& rss_mb : options.rss_mb) MeasureServer(options, fault, rss_mb);
  }
  return 0;
}
