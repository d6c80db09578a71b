#include "chaos/mttr/server_recovery.h"

#include <thread>

#include "chaos/cluster/process_cluster.h"
#include "chaos/report/recovery.h"
#include "common/base/prng.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kPatience{600'000};
constexpr std::size_t kValueBytes = 8192;
constexpr std::size_t kBatch = 128;
constexpr int kWriters = 4;

std::string RowIn(const RegionInfo& region, std::uint64_t number) {
  return fmt::format("{}!{:08}", region.start_key, number);
}

class Measurement {
 public:
  explicit Measurement(const ServerRecoverySpec& spec) : spec_(spec) {}

  Result<ServerRecovery> Run() {
    RATCHET_TRY(Boot());
    RATCHET_TRY(MakeTable());
    RATCHET_TRY(ChooseVictim());
    RATCHET_TRY(Load());
    RATCHET_TRY(KillAndRecover());
    return result_;
  }

 private:
  Status Boot() {
    ClusterSpec cluster;
    cluster.dir = spec_.dir;
    cluster.masters = 1;
    cluster.servers = spec_.servers;
    cluster.session_timeout = spec_.session;
    cluster.storage = spec_.storage;
    cluster.server_flags = {"--memstore-flush-bytes", "64GiB"};  // so that all of it is in the log at the death
    RATCHET_ASSIGN(cluster_, ProcessCluster::Create(cluster));
    RATCHET_TRY(cluster_->StartAll(Millis(120'000)));
    client::ConnectionOptions options;
    options.zookeeper = cluster_->zookeeper();
    options.user = "mttr";
    options.operation_timeout = kPatience;
    RATCHET_ASSIGN(connection_, client::Connection::Open(options));
    return Ok();
  }

  Status MakeTable() {
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families.push_back(DefaultFamily("f"));
    std::vector<std::string> splits;
    for (int i = 1; i < spec_.regions * spec_.servers; ++i) splits.push_back(fmt::format("{:06}", i));
    client::Admin admin(*connection_, kPatience);
    return admin.WaitOk(admin.CreateTable(descriptor, splits));
  }

  Status ChooseVictim() {
    RATCHET_ASSIGN(const std::string meta, cluster_->MetaHolder());
    client::Admin admin(*connection_);
    RATCHET_ASSIGN(const auto locations, admin.Regions(table_));
    for (const auto& info : cluster_->Processes()) {
      if (info.role != Role::kRegionServer || info.name == meta) continue;
      lost_.clear();
      for (const auto& location : locations) {
        if (location.server.port == info.port) lost_.push_back(location);
      }
      if (lost_.empty()) continue;
      victim_ = info.name;
      result_.regions = lost_.size();
      return Ok();
    }
    return Error(Code::kNotFound, "no server without meta has a region");
  }

  // Each writer writes every n-th batch; the batches go to the lost regions in turn.
  Status Load() {
    const std::uint64_t rows = (spec_.log_mib << 20U) / kValueBytes;
    std::vector<Status> done(kWriters, Ok());
    std::vector<std::thread> writers;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] { done[writer] = Write(writer, rows); });
    }
    for (auto& writer : writers) writer.join();
    for (const auto& status : done) RATCHET_TRY(status);
    return MeasureLogs();
  }

  Status Write(std::size_t writer, std::uint64_t rows) {
    Prng prng(writer + 1);
    client::Table table(*connection_, table_);
    for (std::uint64_t from = writer * kBatch; from < rows; from += kWriters * kBatch) {
      std::vector<client::Mutation> batch;
      for (std::uint64_t i = from; i < std::min(from + kBatch, rows); ++i) {
        std::string value(kValueBytes, '\0');
        for (char& letter : value) letter = static_cast<char>(prng.Next());
        batch.push_back(
            client::Mutation::Put(RowIn(lost_[i % lost_.size()].region, i)).Set("f", "v", std::move(value)));
      }
      for (const auto& status : table.MutateMany(batch)) RATCHET_TRY(status);
    }
    return Ok();
  }

  Status MeasureLogs() {
    std::error_code failed;
    const auto wals = cluster_->root() / "wals" / lost_.front().server.ToString();
    for (std::filesystem::directory_iterator entry(wals, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (!entry->path().filename().string().starts_with("log.")) continue;
      ++result_.log_files;
      result_.log_bytes += entry->file_size(failed);
    }
    if (failed) return Error(Code::kIo, fmt::format("{}: {}", wals.string(), failed.message()));
    return Ok();
  }

  Status KillAndRecover() {
    const std::string server = lost_.front().server.ToString();
    const std::int64_t killed = clock_.WallMillis();
    RATCHET_TRY(cluster_->Kill9(victim_));
    pb::ProcedureInfo crash;
    RATCHET_TRY(WaitUntil("the crash procedure's end", kPatience, [&] {
      const auto found = FindCrash(server);
      if (found.ok()) crash = *found;
      return found.ok() && found->finished();
    }));
    result_.phases = PhasesOfCrash(crash, killed);
    client::Table table(*connection_, table_);
    for (const auto& location : lost_) {
      RATCHET_TRY(table.Get({RowIn(location.region, 0), {}, 1, {}}));
    }
    result_.phases.first_success = clock_.WallMillis() - killed;
    return Ok();
  }

  Result<pb::ProcedureInfo> FindCrash(const std::string& server) {
    client::Admin admin(*connection_);
    if (crash_pid_ == 0) {
      pb::ListServersRequest request;
      RATCHET_ASSIGN(auto servers, (admin.Call(methods::kListServers, request)));
      for (const auto& row : servers.server()) {
        const auto& name = row.server();
        if (fmt::format("{},{},{}", name.host_name(), name.port(), name.start_code()) == server)
          crash_pid_ = row.crash_procedure();
      }
      if (crash_pid_ == 0) return Error(Code::kNotFound, "no crash procedure yet");
    }
    pb::GetProcedureRequest request;
    request.set_pid(crash_pid_);
    RATCHET_ASSIGN(auto answer, (admin.Call(methods::kGetProcedure, request)));
    return std::move(*answer.mutable_procedure());
  }

  const ServerRecoverySpec& spec_;
  const TableName table_{"default", "mttr"};
  const SystemClock clock_;
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
  std::string victim_;
  std::vector<client::RegionLocation> lost_;
  std::uint64_t crash_pid_ = 0;
  ServerRecovery result_;
};

}  // namespace

Result<ServerRecovery> MeasureServerRecovery(const ServerRecoverySpec& spec) { return Measurement(spec).Run(); }

}  // namespace ratchet::chaos
