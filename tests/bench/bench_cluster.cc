#include "tests/bench/bench_cluster.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "chaos/cluster/child_process.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::bench {
namespace {

constexpr Millis kPatience{120'000};
constexpr int kPauseRound = 4;  // a few ms between two operations of a probe

const SystemClock kSteady;

void RequireIo(bool ok) {
  if (!ok) EndWith(Error(Code::kIo, "the bare append failed"));
}

}  // namespace

void EndWith(const Error& error) {
  std::fprintf(stderr, "the measurement failed: %s\n", error.ToString().c_str());
  std::exit(1);
}

double MillisSince(TimePoint begin) { return std::chrono::duration<double, std::milli>(kSteady.Now() - begin).count(); }

double Spread::At(double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  return samples[std::min(samples.size() - 1, static_cast<std::size_t>(share * static_cast<double>(samples.size())))];
}

void Spread::Print(const char* what) {
  std::printf("%-28s p50 %8.3f ms   p90 %8.3f ms   p99 %8.3f ms   max %8.3f ms\n", what, At(0.5), At(0.9), At(0.99),
              At(1));
}

BareAppend::BareAppend(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
  const std::string zeros(1U << 20, '\0');
  for (int i = 0; i < 8; ++i) RequireIo(::write(fd_, zeros.data(), zeros.size()) > 0);
  RequireIo(::fsync(fd_) == 0);
}

BareAppend::~BareAppend() { ::close(fd_); }

double BareAppend::Once() {
  const std::string record(600, 'x');
  const TimePoint begin = kSteady.Now();
  RequireIo(::pwrite(fd_, record.data(), record.size(), offset_) > 0 && ::fdatasync(fd_) == 0);
  offset_ = (offset_ + static_cast<std::int64_t>(record.size())) % (7 << 20);
  return MillisSince(begin);
}

BenchCluster::BenchCluster(const Options& options) : dir_(std::filesystem::absolute(options.dir)) {
  std::filesystem::remove_all(dir_);
  chaos::ClusterSpec spec;
  spec.dir = dir_;
  spec.bin = options.bin;
  spec.masters = options.masters;
  spec.servers = options.servers;
  spec.master_flags = options.master_flags;
  spec.server_flags = options.server_flags;
  spec.session_timeout = Millis{10'000};  // no server may be expired on a busy machine
  cluster_ = Take(chaos::ProcessCluster::Create(spec));
  Require(cluster_->StartAll(kPatience));
  client::ConnectionOptions connect;
  connect.zookeeper = cluster_->zookeeper();
  connect.user = "bench";
  connection_ = Take(client::Connection::Open(connect));
}

BenchCluster::~BenchCluster() {
  connection_->Close();
  cluster_->KillAll();
  cluster_.reset();
  std::filesystem::remove_all(dir_);
}

std::uint64_t BenchCluster::StoreSyncs() {
  return Take(cluster_->StatusOf(Take(cluster_->ActiveMaster()))).store_syncs();
}

Probes::Probes(client::Connection& connection, TableName table, const std::vector<std::string>& rows)
    : connection_(connection), table_(std::move(table)) {
  for (const std::string& row : rows) threads_.emplace_back([this, row] { Run(row); });
}

Probes::~Probes() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Probes::Reset() {
  const MutexLock lock(mutex_);
  longest_ = 0;
  operations_ = 0;
}

double Probes::Longest() {
  const MutexLock lock(mutex_);
  return longest_;
}

std::uint64_t Probes::operations() {
  const MutexLock lock(mutex_);
  return operations_;
}

void Probes::Run(const std::string& row) {
  client::Table table(connection_, table_);
  for (std::uint64_t turn = 0; !stopping_; ++turn) {
    const TimePoint begin = kSteady.Now();
    if (turn % 2 == 0) {
      Require(table.Mutate(client::Mutation::Put(row).Set("f", "probe", std::to_string(turn))));
    } else {
      client::Get get;
      get.row = row;
      Require(table.Get(get));
    }
    const double length = MillisSince(begin);
    {
      const MutexLock lock(mutex_);
      longest_ = std::max(longest_, length);
      ++operations_;
    }
    chaos::PollPause(kPauseRound);
  }
}

}  // namespace ratchet::bench
