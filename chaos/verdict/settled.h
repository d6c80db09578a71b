// What must hold of the master's own account of a cluster that has settled. Pure: answers in, a finding out.
#pragma once

#include <string>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// No region in transition, nothing stuck, no crashed server unhandled, no order waiting or unanswered.
[[nodiscard]] Finding JudgeIdle(const pb::GetStatusResponse& status, const pb::ListServersResponse& servers);
// No lock is held, no procedure waits for one.
[[nodiscard]] Finding JudgeLocks(const pb::ListLocksResponse& locks);
// `listed`: all that the master knows; none of it is unfinished. `ended`: some of those that ended, with their
// histories; each ended once.
[[nodiscard]] Finding JudgeProcedures(const pb::ListProceduresResponse& listed,
                                      const std::vector<pb::ProcedureInfo>& ended);

// "bad: 7" and the first few of `wrong`, one a line; `good` when there is nothing.
[[nodiscard]] Finding Summary(const std::string& good, const char* bad, const std::vector<std::string>& wrong);

}  // namespace ratchet::chaos
