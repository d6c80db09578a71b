// Reads how the cluster recovered: crash procedures, procedures that a new master resumed, and log lines.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "chaos/report/prober.h"
#include "chaos/report/run_record.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

class ProcessCluster;

// Not thread-safe: used by the driver's thread.
class RecoveryWatch {
 public:
  // Without `processes` no logs are read. Without `prober` there are no gaps.
  RecoveryWatch(client::Connection& connection, ProcessCluster* processes, const Prober* prober)
      : connection_(connection), processes_(processes), prober_(prober) {}

  // Returns the epoch of the active master; 0 when none answers soon.
  [[nodiscard]] std::uint64_t Epoch();
  // The phases (phases.h) that unfinished procedures are in; none when no master answers soon.
  [[nodiscard]] std::vector<std::string> PhasesNow();
  // Completes what is known of the recoveries. To be called soon after each, because results are forgotten after a
  // while.
  void Look(std::vector<FaultLine>& faults);

 private:
  [[nodiscard]] Result<pb::ProcedureInfo> GetProcedure(std::uint64_t pid);
  void LookAtCrash(const pb::ProcedureInfo& listed, std::vector<FaultLine>& faults);
  void LookForResumed(const pb::ListProceduresResponse& procedures, FaultLine& fault);
  void LookAtTakeover(FaultLine& fault);
  void LookAtGaps(std::vector<FaultLine>& faults);

  client::Connection& connection_;
  ProcessCluster* const processes_;
  const Prober* const prober_;
  std::set<std::uint64_t> seen_;      // crash procedures that were recorded
  std::set<std::int64_t> looked_at_;  // times of faults whose takeover was recorded
  std::size_t complete_faults_ = 0;   // number of faults, from the first on, with their gaps recorded
};

}  // namespace ratchet::chaos
