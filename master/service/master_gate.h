// What the RPC services may use at this moment: nothing on a standby, views while activating, everything once
// hbase:meta is loaded.
//
// The services exist from the start of the process to its end; the active master's parts come with the election. The
// process stops the RPC server before it takes the parts away, so what Admit returned stays valid for the handler's
// life. Callbacks that outlive a handler are covered because the executor is stopped before its parts go. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
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
class LoadBook;
class MasterLogic;
class RemoteDispatcher;

enum class MasterRole : std::uint8_t { kStandby, kActivating, kActive, kStopping };

// The parts of the active master. All outlive their stay in the gate.
struct ActiveParts {
  MasterLogic* logic = nullptr;
  procedure::Executor* executor = nullptr;
  procedure::ProcedureStore* store = nullptr;
  RemoteDispatcher* dispatcher = nullptr;
  Epoch epoch;
  HistoryBook* history = nullptr;  // null: none is kept
};

// How far the activation must have come for a request.
enum class Need : std::uint8_t {
  kRecovered,  // procedures are loaded: views
  kWorkers,    // region servers may register and report
  kReady,      // hbase:meta is loaded: clients' requests
};

struct ActivationStepView {
  std::string name;
  Millis started{0};           // after the election
  std::optional<Millis> took;  // none: still in it
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

  // ServerNotRunningYetException on a standby, MasterStoppedException when stopping, PleaseHoldException when the
  // activation has not come so far.
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

  // ---- shown ----
  [[nodiscard]] MasterRole role() const { return role_.load(); }
  [[nodiscard]] const ServerName& self() const { return self_; }
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] std::optional<ServerName> active_master() const;
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
  TimePoint elected_ GUARDED_BY(mutex_){};
  TimePoint step_began_ GUARDED_BY(mutex_){};
  std::vector<ActivationStepView> steps_ GUARDED_BY(mutex_);
};

// The epoch CHECK after evaluation and before the reply leaves (rule S33). The error to answer instead, if any.
[[nodiscard]] Status CheckBeforeReply(const ActiveParts& parts);

}  // namespace ratchet::master
