// move_bench: how long one region takes to move between two region servers of an idle cluster, seen by the client that
// asked for it: from the request to the procedure's end. Beside it, in the same run and on the same disk, a bare append
// and sync, which is what every durable step costs at least.
//
// Options: -moves 200 -rows 0 (puts before each move, which the closing has to flush) -dir PATH -bin PATH.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "chaos/cluster/process_cluster.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/proto/ratchet.pb.h"

namespace {

using namespace ratchet;         // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::chaos;  // NOLINT(google-build-using-namespace)

constexpr Millis kPatience{60'000};

struct Options {
  std::uint64_t moves = 200;
  std::uint64_t rows = 0;
  std::string dir = "move_bench.data";
  std::string bin;
};

SystemClock steady;

// A failure ends the measurement with its reason.
template <class T>
void Require(const Result<T>& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "move_bench: %s\n", result.error().ToString().c_str());
  std::exit(1);
}

double MillisSince(TimePoint begin) { return std::chrono::duration<double, std::milli>(steady.Now() - begin).count(); }

struct Spread {
  std::vector<double> samples;
  double At(double share) {
    std::sort(samples.begin(), samples.end());
    return samples[std::min(samples.size() - 1, static_cast<std::size_t>(share * static_cast<double>(samples.size())))];
  }
  void Print(const char* what) {
    std::printf("%-28s p50 %8.3f ms   p90 %8.3f ms   p99 %8.3f ms   max %8.3f ms\n", what, At(0.5), At(0.9), At(0.99),
                At(1));
  }
};

// One record of the size of a procedure's, written over zeros and synced, as the procedure store does it.
class BareAppend {
 public:
  explicit BareAppend(const std::string& path) : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    const std::string zeros(1U << 20, '\0');
    for (int i = 0; i < 8; ++i) Check(::write(fd_, zeros.data(), zeros.size()) > 0);
    Check(::fsync(fd_) == 0);
  }
  ~BareAppend() { ::close(fd_); }
  double Once() {
    const std::string record(600, 'x');
    const TimePoint begin = steady.Now();
    Check(::pwrite(fd_, record.data(), record.size(), offset_) > 0 && ::fdatasync(fd_) == 0);
    offset_ = (offset_ + static_cast<off_t>(record.size())) % (7 << 20);
    return MillisSince(begin);
  }

 private:
  static void Check(bool ok) {
    if (!ok) Require(Status(Error(Code::kIo, "the bare append failed")));
  }
  int fd_;
  off_t offset_ = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), dir_(std::filesystem::absolute(options.dir)) {
    std::filesystem::remove_all(dir_);
    ClusterSpec spec;
    spec.dir = dir_;
    spec.bin = options.bin;
    spec.masters = 1;
    spec.servers = 2;
    spec.session_timeout = Millis{10'000};  // no server is to be expired on a busy machine
    auto created = ProcessCluster::Create(spec);
    Require(created);
    cluster_ = std::move(*created);
    Require(cluster_->StartAll(kPatience));
    client::ConnectionOptions connect;
    connect.zookeeper = cluster_->zookeeper();
    connect.user = "bench";
    auto opened = client::Connection::Open(connect);
    Require(opened);
    connection_ = std::move(*opened);
  }
  ~Bench() {
    connection_->Close();
    cluster_->KillAll();
    cluster_.reset();
    std::filesystem::remove_all(dir_);
  }

  void Run() {
    MakeTable();
    BareAppend bare(dir_ / "bare");
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
    client::Admin admin(*connection_);
    TableDescriptor descriptor;
    descriptor.name = name_;
    descriptor.families.push_back(DefaultFamily("f"));
    Require(admin.WaitOk(admin.CreateTable(descriptor, {})));
    auto regions = admin.Regions(name_);
    Require(regions);
    region_ = regions->front().region.encoded_name();
    auto status = cluster_->StatusOf("master-1");
    Require(status);
    for (const auto& server : status->live_server()) {
      servers_.push_back({server.host_name(), static_cast<std::uint16_t>(server.port()), server.start_code()});
    }
    std::sort(servers_.begin(), servers_.end(),
              [&](const auto& a, const auto&) { return a != regions->front().server; });
  }
  void Put(std::uint64_t row) {
    client::Table table(*connection_, name_);
    Require(table.Mutate(client::Mutation::Put(std::to_string(row)).Set("f", "q", std::string(100, 'v'))));
  }
  double Move(std::uint64_t number) {
    client::Admin admin(*connection_);
    const TimePoint begin = steady.Now();
    Require(admin.WaitOk(admin.Transit(client::RegionVerb::kMove, region_, servers_[number % 2])));
    return MillisSince(begin);
  }
  std::pair<std::uint64_t, std::uint64_t> StoreSyncs() {
    auto status = cluster_->StatusOf("master-1");
    Require(status);
    return {status->store_batches(), status->store_syncs()};
  }

  const Options options_;
  const std::filesystem::path dir_;
  const TableName name_{"default", "bench"};
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
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
