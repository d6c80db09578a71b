// One run, from boot to verdict.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chaos/driver/console.h"
#include "chaos/driver/fault_loop.h"
#include "chaos/driver/options.h"
#include "chaos/report/prober.h"
#include "chaos/report/recovery_watch.h"
#include "chaos/report/resource_watch.h"
#include "chaos/report/traffic_sampler.h"
#include "chaos/verdict/early_findings.h"
#include "chaos/verdict/meta_ranges.h"
#include "chaos/verdict/openings.h"
#include "chaos/verdict/region_moves.h"
#include "chaos/workloads/second_cluster.h"
#include "common/client/connection.h"

namespace ratchet::chaos {

// Used once, by one thread. Another thread may set `stop`: then the chaos ends, everything is healed and the load
// stops. The verdict is then INCONCLUSIVE or FAIL.
class ChaosRun {
 public:
  ChaosRun(ChaosOptions options, Plan plan, Console& console, const std::atomic<bool>& stop);
  ~ChaosRun();
  ChaosRun(const ChaosRun&) = delete;
  ChaosRun& operator=(const ChaosRun&) = delete;

  // Returns an error if the run could not begin (the cluster does not come up, a table cannot be created, no fault is
  // possible).
  [[nodiscard]] Result<RunRecord> Run();

 private:
  // Leaves out the workloads whose programs cannot run on this machine.
  [[nodiscard]] Status ChooseWorkloads();
  [[nodiscard]] Status Boot();
  // Fills in what clients in other languages need to find the cluster.
  void AddAddresses(WorkloadContext& context);
  // With --secure: makes the credentials of the new cluster; this program is its superuser.
  [[nodiscard]] Status SecureCluster(ClusterSpec& spec);
  [[nodiscard]] Status AddWorkload(const std::string& name, const WorkloadContext& context);
  // Starts a second cluster if a workload needs it.
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
  [[nodiscard]] std::vector<LoggedMove> Moves();
  void CheckEarlyFindings();
  void CheckStoredFiles();
  // Sizes of the logs of masters and region servers.
  [[nodiscard]] std::map<std::string, std::uint64_t> LogSizes();
  void KeepHistory();
  void LeaveBundle();
  // Removes the run's tables from a cluster that the run has not made. Findings that are not understood stay, as
  // evidence.
  void RemoveTables();
  [[nodiscard]] std::int64_t Now() const { return clock_.WallMillis(); }

  ChaosOptions options_;  // workloads that cannot run here are removed at the start
  Plan plan_;
  Console& console_;
  const std::atomic<bool>& stop_;
  const SystemClock clock_;
  RunRecord record_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<client::Connection> connection_;
  std::vector<TableName> tables_before_;
  std::unique_ptr<SecondCluster> second_;  // null if no workload needs it
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::unique_ptr<Prober> prober_;
  std::unique_ptr<RangeWatch> ranges_;
  std::unique_ptr<RecoveryWatch> watch_;
  std::unique_ptr<TrafficSampler> sampler_;
  ResourceWatch resources_;
  std::vector<WrongClock> wrong_clocks_;  // in order; faults of clocks do not overlap
  Status broken_ = Ok();                  // reason why the chaos ended early
  std::vector<bool> told_;                // faults whose recovery was printed
  std::int64_t last_look_ms_ = 0;
  std::int64_t last_sample_ms_ = 0;
  std::int64_t chaos_started_ms_ = 0;
};

}  // namespace ratchet::chaos
