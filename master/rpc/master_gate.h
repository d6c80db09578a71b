// Admits requests by the master's role: none on a standby, views during the activation, all when hbase:meta is loaded.
//
// The services exist from the start of the process to its end; the active master's parts exist after the election. The
// process stops the RPC server before it destroys the parts, so the result of Admit stays valid while the handler runs.
// Callbacks that outlive a handler are safe because the executor is stopped before its parts are destroyed.
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"

namespace ratchet::procedure {
class Executor;
class ProcedureStore;
}  // namespace ratchet::procedure

namespace ratchet::master {

class HistoryBook;
struct MasterLogic;
class RemoteDispatcher;

enum class MasterRole : std::uint8_t { kStandby, kActivating, kActive, kStopping };

// The parts of the active master. All exist as long as the gate has them.
struct ActiveParts {
  MasterLogic* logic = nullptr;
  procedure::Executor* executor = nullptr;
  procedure::ProcedureStore* store = nullptr;
  RemoteDispatcher* dispatcher = nullptr;
  Epoch epoch;
  HistoryBook* history = nullptr;  // null: no history
};

// Progress of the activation that a request needs.
enum class Need : std::uint8_t {
  kRecovered,  // procedures are loaded: views
  kWorkers,    // region servers may register and report
  kReady,      // hbase:meta is loaded: clients' requests
};

enum class OwnProblem : std::uint8_t {
  kElection,         // a ZooKeeper node prevents the election of every master
  kClusterId,        // <root>/cluster.id cannot be read, or names another cluster
  kMembers,          // unproven members, and what is wrong with this process's root, certificates, users and logs
  kZooKeeperRights,  // a node in ZooKeeper has rights that this master cannot change (--zk-acl)
  kRefusedStart,     // the start of a master was refused (S114: no start without the past), and no master has led since
};

struct ActivationStepView {
  std::string name;
  Millis started{0};           // start of the step, after the election
  std::optional<Millis> took;  // duration; nullopt while the step runs
  std::string detail;
};

class MasterGate {
 public:
  MasterGate(ServerName self, std::string cluster_id, std::string version, const Clock& clock)
      : self_(std::move(self)),
        cluster_id_(std::move(cluster_id)),
        version_(std::move(version)),
        clock_(clock),
        started_(clock.Now()) {}

  // ServerNotRunningYetException on a standby, MasterStoppedException when stopping, PleaseHoldException if the
  // activation has not reached `need`.
  [[nodiscard]] Result<ActiveParts> Admit(Need need) const;

  // ---- driven by the process ----
  void Elected();
  void Recovered(ActiveParts parts);
  void WorkersStarted() { reached_.store(Need::kWorkers); }
  void Ready();
  void Stopping();
  void BeginStep(const std::string& name);
  void EndStep(const std::string& detail);
  void SetActiveMaster(std::optional<ServerName> active);
  // Sets the text of a problem of this process, in any role, one for each kind; empty clears it.
  void SetProblem(OwnProblem kind, const std::string& text);

  // ---- shown ----
  [[nodiscard]] MasterRole role() const { return role_.load(); }
  [[nodiscard]] const ServerName& self() const { return self_; }
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] std::optional<ServerName> active_master() const;
  [[nodiscard]] std::map<OwnProblem, std::string> problems() const;
  [[nodiscard]] std::vector<ActivationStepView> steps() const;
  [[nodiscard]] std::int64_t active_since_ms() const { return active_since_ms_.load(); }
  [[nodiscard]] Millis since_elected() const;  // 0 before the election
  [[nodiscard]] Millis uptime() const { return std::chrono::duration_cast<Millis>(clock_.Now() - started_); }
  [[nodiscard]] const Clock& clock() const { return clock_; }

 private:
  const ServerName self_;
  const std::string cluster_id_;
  const std::string version_;
  const Clock& clock_;
  const TimePoint started_;
  std::atomic<MasterRole> role_{MasterRole::kStandby};
  std::atomic<Need> reached_{Need::kRecovered};
  std::atomic<bool> recovered_{false};
  std::atomic<std::int64_t> active_since_ms_{0};
  mutable Mutex mutex_;
  ActiveParts parts_ GUARDED_BY(mutex_);
  std::optional<ServerName> active_ GUARDED_BY(mutex_);
  std::map<OwnProblem, std::string> problems_ GUARDED_BY(mutex_);
  TimePoint elected_ GUARDED_BY(mutex_){};
  TimePoint step_began_ GUARDED_BY(mutex_){};
  std::vector<ActivationStepView> steps_ GUARDED_BY(mutex_);
};

// The epoch CHECK after evaluation and before the reply is sent (rule S33: check before state replies). Returns the
// error to answer instead, if any.
[[nodiscard]] Status CheckBeforeReply(const ActiveParts& parts);

}  // namespace ratchet::master
