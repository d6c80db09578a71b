// move_bench: measures the move of one region between two region servers of an idle cluster, seen by the client: from
// the request to the procedure's end. In the same run and on the same disk it measures a bare append and sync, the
// minimum cost of a durable step.
//
// Options: -moves 200 -rows 0 (puts before each move, which the closing has to flush) -dir PATH -bin PATH.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/log.h"
#include "common/model/proto/ratchet.pb.h"
#include "tests/bench/bench_cluster.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::bench;  // NOLINT(google-build-using-namespace)

struct Options {
  std::uint64_t moves = 200;
  std::uint64_t rows = 0;
  std::string dir = "move_bench.data";
  std::string bin;
};

const SystemClock kSteady;

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options), world_({options.dir, options.bin, /*masters=*/1, /*servers=*/2, {}}) {}

  void Run() {
    MakeTable();
    BareAppend bare(world_.dir() / "bare");
    Spread moves;
    Spread appends;
    Move(0);  // connections are made, locations looked up
    const auto before = StoreSyncs();
    for (std::uint64_t i = 1; i <= options_.moves; ++i) {
      for (std::uint64_t row = 0; row < options_.rows; ++row) Put(row);
      moves.samples.push_back(Move(i));
      appends.samples.push_back(bare.Once());
    }
    const auto after = StoreSyncs();
    moves.Print("move of a region");
    appends.Print("bare append and sync");
    const double count = static_cast<double>(options_.moves);
    std::printf("a move: %.1f batches and %.1f syncs of the procedure store; takes as long as %.1f bare appends\n",
                static_cast<double>(after.first - before.first) / count,
                static_cast<double>(after.second - before.second) / count, moves.At(0.5) / appends.At(0.5));
  }

 private:
  void MakeTable() {
    client::Admin admin = world_.admin();
    TableDescriptor descriptor;
    descriptor.name = name_;
    descriptor.families.push_back(DefaultFamily("f"));
    Require(admin.WaitOk(admin.CreateTable(descriptor, {})));
    auto regions = admin.Regions(name_);
    Require(regions);
    region_ = regions->front().region.encoded_name();
    auto status = world_.cluster().StatusOf("master-1");
    Require(status);
    for (const auto& server : status->live_server()) {
      servers_.push_back({server.host_name(), static_cast<std::uint16_t>(server.port()), server.start_code()});
    }
    std::sort(servers_.begin(), servers_.end(),
              [&](const auto& a, const auto&) { return a != regions->front().server; });
  }
  void Put(std::uint64_t row) {
    client::Table table(world_.connection(), name_);
    Require(table.Mutate(client::Mutation::Put(std::to_string(row)).Set("f", "q", std::string(100, 'v'))));
  }
  double Move(std::uint64_t number) {
    client::Admin admin = world_.admin();
    const TimePoint begin = kSteady.Now();
    Require(admin.WaitOk(admin.Transit(client::RegionVerb::kMove, region_, servers_[number % 2])));
    return MillisSince(begin);
  }
  std::pair<std::uint64_t, std::uint64_t> StoreSyncs() {
    auto status = world_.cluster().StatusOf("master-1");
    Require(status);
    return {status->store_batches(), status->store_syncs()};
  }

  const Options options_;
  BenchCluster world_;
  const TableName name_{"default", "bench"};
  std::string region_;
  std::vector<ServerName> servers_;
};

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "-moves") {
      options.moves = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "-rows") {
      options.rows = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "-dir") {
      options.dir = argv[i + 1];
    } else if (name == "-bin") {
      options.bin = argv[i + 1];
    } else {
      std::fprintf(stderr, "move_bench: unknown option %s (there are: -moves -rows -dir -bin)\n", name.c_str());
      std::exit(2);
    }
  }
  if (options.moves == 0) options.moves = 1;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  Bench(Parse(argc, argv)).Run();
  return 0;
}
