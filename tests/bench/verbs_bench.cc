// verbs_bench: measures operations of the life cycle, and how long a client cannot use a region meanwhile: splits and
// merges of a table; changes, a snapshot, a compaction, a drain, a new server and a rolling restart with a table of
// many regions; replication to a second cluster. Syncs are those of the master's procedure store.
//
// Options: -splits 50 -regions 1000 -rows 20000 -shipped 200000 -dir PATH -bin PATH -only splits|table|replication.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "chaos/cluster/child_process.h"
#include "chaos/cluster/rolling_restart.h"
#include "common/base/log.h"
#include "common/client/drain.h"
#include "common/client/peers.h"
#include "common/client/snapshots.h"
#include "tests/bench/bench_cluster.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::bench;  // NOLINT(google-build-using-namespace)

struct Options {
  std::uint64_t splits = 50;
  std::uint64_t regions = 1'000;
  std::uint64_t rows = 20'000;
  std::uint64_t shipped = 200'000;
  std::string dir = "verbs_bench.data";
  std::string bin;
  std::string only;
};

constexpr Millis kPatience{600'000};
constexpr std::size_t kBatch = 500;
const SystemClock kSteady;
const TableName kTable{"default", "bench"};

std::string KeyOf(std::uint64_t number, std::uint64_t of) { return fmt::format("{:08}", number * 100'000'000 / of); }

void MakeTable(client::Admin admin, std::uint64_t regions, bool shipped = false) {
  TableDescriptor descriptor;
  descriptor.name = kTable;
  descriptor.families.push_back(DefaultFamily("f"));
  if (shipped) descriptor.families.back().attributes["REPLICATION_SCOPE"] = "1";
  std::vector<std::string> keys;
  for (std::uint64_t i = 1; i < regions; ++i) keys.push_back(KeyOf(i, regions));
  Require(admin.WaitOk(admin.CreateTable(descriptor, keys)));
}

void PutRows(client::Connection& connection, std::uint64_t rows) {
  client::Table table(connection, kTable);
  std::vector<client::Mutation> batch;
  for (std::uint64_t i = 0; i < rows; ++i) {
    batch.push_back(client::Mutation::Put(KeyOf(i, rows)).Set("f", "q", std::string(100, 'v')));
    if (batch.size() < kBatch && i + 1 < rows) continue;
    for (const Status& put : table.MutateMany(batch)) Require(put);
    batch.clear();
  }
}

struct Measured {
  double time = 0;
  double gap = 0;
  double syncs = 0;
};

// Runs `verb` while the probes run.
Measured Measure(BenchCluster& world, Probes& probes, const std::function<void()>& verb) {
  Measured measured;
  const std::uint64_t syncs = world.StoreSyncs();
  probes.Reset();
  const TimePoint begin = kSteady.Now();
  verb();
  measured.time = MillisSince(begin);
  chaos::PollPause(10);  // lets operations end that began before the end of the verb
  measured.gap = probes.Longest();
  measured.syncs = static_cast<double>(world.StoreSyncs()) - static_cast<double>(syncs);
  return measured;
}

void Print(const std::string& what, const Measured& measured) {
  std::printf("%-44s %10.0f ms %8.0f syncs   longest operation of a client %8.1f ms\n", what.c_str(), measured.time,
              measured.syncs, measured.gap);
  std::fflush(stdout);
}

// ---- splits and merges ----------------------------------------------------------------------------------------------

void MeasureSplits(const Options& options) {
  BenchCluster world({options.dir, options.bin, 1, 2, {}});
  MakeTable(world.admin(), 1);
  BareAppend bare(world.dir() / "bare");
  Probes probes(world.connection(), kTable, {"10000000", "90000000"});
  client::Admin admin = world.admin();
  std::map<std::string, Spread> times;
  std::map<std::string, Spread> gaps;
  std::map<std::string, double> syncs;
  const auto note = [&](const char* verb, const Measured& measured) {
    times[verb].samples.push_back(measured.time);
    gaps[verb].samples.push_back(measured.gap);
    syncs[verb] += measured.syncs;
  };
  Spread appends;
  for (std::uint64_t i = 0; i < options.splits; ++i) {
    const RegionInfo region = Take(admin.Regions(kTable)).front().region;
    note("split", Measure(world, probes, [&] { Require(admin.WaitOk(admin.SplitRegion(region, "50000000"))); }));
    std::vector<std::string> daughters;
    for (const auto& location : Take(admin.Regions(kTable))) daughters.push_back(location.region.encoded_name());
    note("merge", Measure(world, probes, [&] { Require(admin.WaitOk(admin.MergeRegions(daughters))); }));
    for (int sample = 0; sample < 4; ++sample) appends.samples.push_back(bare.Once());
  }
  appends.Print("bare append and sync");
  for (const char* verb : {"split", "merge"}) {
    times[verb].Print(verb);
    gaps[verb].Print(fmt::format("{}: longest operation", verb).c_str());
    std::printf("a %s: %.1f syncs of the procedure store; its longest operation takes as long as %.1f bare appends\n",
                verb, syncs[verb] / static_cast<double>(options.splits), gaps[verb].At(0.5) / appends.At(0.5));
  }
}

// ---- a table of many regions ----------------------------------------------------------------------------------------

std::map<std::string, std::uint64_t> Shares(client::Admin admin) {
  std::map<std::string, std::uint64_t> shares;
  for (const auto& location : Take(admin.Regions(kTable))) ++shares[location.server.ToString()];
  return shares;
}

// Waits until each of `servers` has 90 % of its share.
void AwaitShares(const Options& options, BenchCluster& world, std::uint64_t servers) {
  const std::uint64_t share = options.regions / servers * 9 / 10;
  Require(
      chaos::ProcessCluster::WaitUntil(fmt::format("{} servers with {} regions each", servers, share), kPatience, [&] {
        const auto now = Shares(world.admin());
        return now.size() == servers &&
               std::all_of(now.begin(), now.end(), [share](const auto& each) { return each.second >= share; });
      }));
}

void MeasureTable(const Options& options) {
  BenchCluster world({options.dir, options.bin, 2, 3, {"--balancer-period-ms", "1000"}});
  client::Admin admin(world.connection(), kPatience);
  const TimePoint begin = kSteady.Now();
  MakeTable(world.admin(), options.regions);
  std::printf("%-44s %10.0f ms\n", fmt::format("a table of {} regions", options.regions).c_str(), MillisSince(begin));
  PutRows(world.connection(), options.rows);
  std::vector<std::string> rows;
  for (std::uint64_t i = 0; i < 8; ++i) rows.push_back(KeyOf(i * 2 + 1, 16));
  Probes probes(world.connection(), kTable, rows);
  Print("nothing", Measure(world, probes, [] {
          for (int round = 0; round < 50; ++round) chaos::PollPause(10);
        }));
  const auto verb = [&](const char* what, const std::function<Result<std::uint64_t>()>& ask) {
    Print(what, Measure(world, probes, [&] { Require(admin.WaitOk(ask())); }));
  };
  verb("alter: all regions are opened again", [&] {
    TableDescriptor changed = Take(admin.Describe(kTable));
    changed.families.front().attributes["VERSIONS"] = "3";
    return admin.ModifyTable(changed);
  });
  verb("flush", [&] { return admin.FlushTable(kTable); });
  client::Snapshots snapshots(world.connection(), kPatience);
  verb("snapshot", [&] { return snapshots.Take("s", kTable, {}); });
  verb("clone of the snapshot", [&] { return snapshots.PutBack("s", {"default", "clone"}); });
  verb("compaction, major", [&] { return admin.CompactTable(kTable, true); });
  Require(admin.WaitOk(admin.DisableTable({"default", "clone"})));
  Require(admin.WaitOk(admin.DeleteTable({"default", "clone"})));
  const ServerName drained = Take(admin.Regions(kTable)).front().server;
  verb("drain of one server of three", [&] { return client::Drain(admin, drained, false); });
  Print("the server is taken back and has its share", Measure(world, probes, [&] {
          Require(admin.WaitOk(client::Undrain(admin, drained, {})));
          AwaitShares(options, world, 3);
        }));
  Print("a new server has its share", Measure(world, probes, [&] {
          (void)Take(world.cluster().AddServer());
          AwaitShares(options, world, 4);
        }));
  std::optional<chaos::LongestOperation> longest;
  Print("rolling restart of all processes", Measure(world, probes, [&] {
          longest = Take(chaos::RollingRestart(world.cluster(), {kPatience, {}}));
        }));
  std::printf("  its own probes: %lu operations, the longest %ld ms, while %s\n", longest->operations,
              longest->length.count(), longest->meanwhile.c_str());
}

// ---- replication ----------------------------------------------------------------------------------------------------

std::uint64_t Count(client::Connection& connection) {
  client::Table table(connection, kTable);
  auto scanner = table.Scan({});
  std::uint64_t rows = 0;
  while (Take(scanner.Next())) ++rows;
  return rows;
}

void MeasureReplication(const Options& options) {
  BenchCluster first({options.dir, options.bin, 1, 2, {}});
  BenchCluster second({options.dir + ".second", options.bin, 1, 2, {}});
  MakeTable(second.admin(), 4);
  MakeTable(first.admin(), 4, true);
  hbase::pb::ReplicationPeer config;
  config.set_clusterkey(second.cluster().zookeeper() + ":/hbase");
  config.set_replicate_all(true);
  client::Admin admin = first.admin();
  Require(admin.WaitOk(client::AddPeer(admin, "second", config, true)));
  client::Table here(first.connection(), kTable);
  client::Table there(second.connection(), kTable);
  Spread lag;
  for (int i = 0; i < 100; ++i) {
    const std::string row = fmt::format("lag{}", i);
    Require(here.Mutate(client::Mutation::Put(row).Set("f", "q", "v")));
    const TimePoint answered = kSteady.Now();
    client::Get get;
    get.row = row;
    while (Take(there.Get(get)).empty()) chaos::PollPause(0);
    lag.samples.push_back(MillisSince(answered));
  }
  lag.Print("from the answer to the peer");
  TimePoint begin = kSteady.Now();
  PutRows(first.connection(), options.shipped);
  const double written = MillisSince(begin);
  while (Count(second.connection()) < options.shipped) chaos::PollPause(10);
  const double shipped = MillisSince(begin);
  std::printf("%lu rows of 100 bytes: written in %.0f ms, at the peer after %.0f ms: %.0f rows/s\n", options.shipped,
              written, shipped, static_cast<double>(options.shipped) / shipped * 1'000);
}

Options Parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::uint64_t*> numbers = {{"-splits", &options.splits},
                                                         {"-regions", &options.regions},
                                                         {"-rows", &options.rows},
                                                         {"-shipped", &options.shipped}};
  const std::map<std::string, std::string*> texts = {
      {"-dir", &options.dir}, {"-bin", &options.bin}, {"-only", &options.only}};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (const auto number = numbers.find(argv[i]); number != numbers.end()) {
      *number->second = std::max<std::uint64_t>(1, std::strtoull(argv[i + 1], nullptr, 10));
    } else if (const auto text = texts.find(argv[i]); text != texts.end()) {
      *text->second = argv[i + 1];
    } else {
      std::fprintf(stderr, "verbs_bench: unknown option %s (the first lines of verbs_bench.cc list them)\n", argv[i]);
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  const Options options = Parse(argc, argv);
  const auto wanted = [&options](const char* part) { return options.only.empty() || options.only == part; };
  if (wanted("splits")) MeasureSplits(options);
  if (wanted("table")) MeasureTable(options);
  if (wanted("replication")) MeasureReplication(options);
  return 0;
}
