#include "chaos/mttr/master_failover.h"

#include <atomic>
#include <cstdio>
#include <thread>

#include "chaos/cluster/process_cluster.h"
#include "chaos/report/recovery.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kFailoverPatience{600'000};
constexpr int kSubmitters = 16;

class FailoverRun {
 public:
  explicit FailoverRun(const MasterFailoverSpec& spec) : spec_(spec) {}

  Result<MasterFailover> Run() {
    RATCHET_TRY(Boot());
    if (spec_.procedures > 0) RATCHET_TRY(Submit());
    RATCHET_TRY(KillAndTakeOver());
    return result_;
  }

 private:
  Status Boot() {
    ClusterSpec cluster;
    cluster.dir = spec_.dir;
    cluster.servers = 1;
    cluster.session_timeout = spec_.session;
    RATCHET_ASSIGN(cluster_, ProcessCluster::Create(cluster));
    // The first master hangs in one step of one procedure, which holds the table's lock; all others wait for the lock.
    RATCHET_TRY(cluster_->Start("master-1", ArmedWith("executor.before_commit~DisableTable=delay:3600000")));
    RATCHET_TRY(cluster_->WaitActiveMaster(Millis(30'000)));
    for (const char* name : {"master-2", "rs-1"}) RATCHET_TRY(cluster_->Start(name));
    RATCHET_TRY(cluster_->WaitServing(Millis(60'000)));
    client::ConnectionOptions options;
    options.zookeeper = cluster_->zookeeper();
    options.user = "mttr";
    options.operation_timeout = kFailoverPatience;
    RATCHET_ASSIGN(connection_, client::Connection::Open(options));
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families.push_back(DefaultFamily("f"));
    client::Admin admin(*connection_, kFailoverPatience);
    return admin.WaitOk(admin.CreateTable(descriptor, {}));
  }

  Status Submit() {
    client::Admin admin(*connection_, kFailoverPatience);
    RATCHET_ASSIGN(first_pid_, admin.DisableTable(table_));
    std::atomic<std::uint64_t> left{spec_.procedures - 1};
    std::vector<Status> done(kSubmitters, Ok());
    std::vector<std::thread> threads;
    for (auto& status : done) {
      threads.emplace_back([&, out = &status] {
        for (std::uint64_t n = left; n > 0;) {
          if (!left.compare_exchange_weak(n, n - 1)) continue;
          const auto pid = admin.DisableTable(table_);
          if (!pid.ok()) {
            *out = pid.error();
            return;
          }
          n = left;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& status : done) RATCHET_TRY(status);
    return Ok();
  }

  Status KillAndTakeOver() {
    RATCHET_ASSIGN(const std::string victim, cluster_->ActiveMaster());
    const std::int64_t killed = clock_.WallMillis();
    RATCHET_TRY(cluster_->Kill9(victim));
    RATCHET_ASSIGN(const std::string successor, cluster_->WaitActiveMaster(kFailoverPatience, victim));
    RATCHET_TRY(cluster_->WaitLog(successor, "activation: ready", kFailoverPatience));
    std::vector<std::string> lines = cluster_->LogLines(successor, "elected as active master");
    for (const auto& line : cluster_->LogLines(successor, "activation: ")) {
      lines.push_back(line);
      const auto epoch = line.find("epoch ");
      const auto procedures = line.find(" procedures");
      if (line.find("claim store done") == std::string::npos || procedures == std::string::npos) continue;
      std::sscanf(line.c_str() + line.find(", ", epoch) + 2, "%lu procedures", &result_.procedures);
    }
    result_.phases = PhasesOfTakeover(lines, killed);
    if (first_pid_ != 0) NoteFirstStep(killed);
    return Ok();
  }

  void NoteFirstStep(std::int64_t killed) {
    client::Admin admin(*connection_, kFailoverPatience);
    pb::GetProcedureRequest request;
    request.set_pid(first_pid_);
    const auto answer = admin.Call(methods::kGetProcedure, request);
    if (!answer.ok() || answer->procedure().history_size() == 0) return;
    result_.phases.first_success = static_cast<std::int64_t>(answer->procedure().history(0).at_wall_ms()) - killed;
  }

  const MasterFailoverSpec& spec_;
  const TableName table_{"default", "mttr"};
  const SystemClock clock_;
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
  std::uint64_t first_pid_ = 0;
  MasterFailover result_;
};

}  // namespace

Result<MasterFailover> MeasureMasterFailover(const MasterFailoverSpec& spec) { return FailoverRun(spec).Run(); }

}  // namespace ratchet::chaos
