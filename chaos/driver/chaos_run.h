// One run from boot to verdict.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "chaos/driver/console.h"
#include "chaos/driver/fault_loop.h"
#include "chaos/driver/options.h"
#include "chaos/report/prober.h"
#include "chaos/report/recovery_watch.h"
#include "chaos/report/resource_watch.h"
#include "chaos/report/traffic_sampler.h"
#include "chaos/verdict/meta_ranges.h"
#include "chaos/verdict/openings.h"
#include "chaos/workloads/second_cluster.h"
#include "common/client/connection.h"

namespace ratchet::chaos {

// Used once, by one thread; `stop` may be set by another: the chaos ends, everything is healed and the load stops. Such
// a run is INCONCLUSIVE at best.
class ChaosRun {
 public:
  ChaosRun(ChaosOptions options, Plan plan, Console& console, const std::atomic<bool>& stop);
  ~ChaosRun();
  ChaosRun(const ChaosRun&) = delete;
  ChaosRun& operator=(const ChaosRun&) = delete;

  // An error: it could not even begin (the cluster does not come up, a table cannot be made, no fault is possible).
  [[nodiscard]] Result<RunRecord> Run();

 private:
  [[nodiscard]] Status Boot();
  // For the loads that need one; nothing otherwise.
  [[nodiscard]] Status BootSecond();
  [[nodiscard]] Status PrepareLoad();
  [[nodiscard]] Status ChooseFaults();
  void StartLoad();
  [[nodiscard]] Status WarmUp();
  void Break();
  void StopLoad();
  void Judge();
  void CheckEverything();
  void CheckWorkloads(bool of_two_clusters);
  [[nodiscard]] FaultLoopHooks Hooks();
  [[nodiscard]] WorkloadCounters Total() const;
  void Note(const std::string& what, const std::string& detail);
  void NoteRecoveries(std::vector<FaultLine>& faults);
  void NoteDeaths();
  void Tick();
  void CountFaultPoints();
  [[nodiscard]] Finding Settled();
  [[nodiscard]] std::vector<Opening> Openings();
  void KeepHistory();
  void LeaveBundle();
  // Of a cluster that the run has not made. What is not understood stays, as evidence.
  void RemoveTables();
  [[nodiscard]] std::int64_t Now() const { return clock_.WallMillis(); }

  const ChaosOptions options_;
  Plan plan_;
  Console& console_;
  const std::atomic<bool>& stop_;
  const SystemClock clock_;
  RunRecord record_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<client::Connection> connection_;
  std::vector<TableName> tables_before_;
  std::unique_ptr<SecondCluster> second_;  // null where no load needs one
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::unique_ptr<Prober> prober_;
  std::unique_ptr<RangeWatch> ranges_;
  std::unique_ptr<RecoveryWatch> watch_;
  std::unique_ptr<TrafficSampler> sampler_;
  ResourceWatch resources_;
  Status broken_ = Ok();    // why the chaos ended early
  std::vector<bool> told_;  // faults whose recovery has been shown
  std::int64_t last_look_ms_ = 0;
  std::int64_t last_sample_ms_ = 0;
  std::int64_t chaos_started_ms_ = 0;
};

}  // namespace ratchet::chaos
