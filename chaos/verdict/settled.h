// Checks of the master's answers after the cluster has settled. Pure: answers in, a finding out.
#pragma once

#include <string>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// Checks that no region is in transition, no procedure is stuck, every crash was handled, and no order waits for its
// execution or answer.
[[nodiscard]] Finding JudgeIdle(const pb::GetStatusResponse& status, const pb::ListServersResponse& servers);
// Checks that no lock is held and no procedure waits for one.
[[nodiscard]] Finding JudgeLocks(const pb::ListLocksResponse& locks);
// `listed` are all procedures that the master knows; none may be unfinished. `ended` are some of the ended ones with
// their histories; each must have ended once.
[[nodiscard]] Finding JudgeProcedures(const pb::ListProceduresResponse& listed,
                                      const std::vector<pb::ProcedureInfo>& ended);

// Returns `good` when `wrong` is empty; otherwise "bad: 7" and the first few of `wrong`, one per line.
[[nodiscard]] Finding Summary(const std::string& good, const char* bad, const std::vector<std::string>& wrong);

}  // namespace ratchet::chaos
