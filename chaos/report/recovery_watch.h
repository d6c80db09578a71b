// Asks the cluster how it recovered: crash procedures, what a new master took over, what its log says.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "chaos/report/prober.h"
#include "chaos/report/run_record.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

class ProcessCluster;

// Not thread-safe: the driver's thread.
class RecoveryWatch {
 public:
  // `processes` may be null: then nothing is read from logs. `prober` may be null: then there are no gaps.
  RecoveryWatch(client::Connection& connection, ProcessCluster* processes, const Prober* prober)
      : connection_(connection), processes_(processes), prober_(prober) {}

  // Of the active master; 0 when none answers soon.
  [[nodiscard]] std::uint64_t Epoch();
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
  std::set<std::uint64_t> seen_;      // crash procedures that are accounted for
  std::set<std::int64_t> looked_at_;  // times of faults whose takeover is
  std::size_t complete_faults_ = 0;   // the first so many have their gaps
};

}  // namespace ratchet::chaos
