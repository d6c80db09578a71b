// The end of a procedure: notifies those that wait for it, and removes its descendants from memory.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// The durable state is final: counts the procedure, notifies listeners and those that wait. After its last child the
// parent resumes.
void Finish(ExecutorLock& held, ProcNode& node);

// Removes a finished subtree below `node` from memory.
void RemoveDescendants(ExecutorLock& held, ProcNode& node);
// The pids of that subtree, for the store.
[[nodiscard]] std::vector<ProcId> DescendantsToDelete(ProcNode& node);

// Answers requests that a procedure no longer accepts: reports, verbs, an abort.

// Refuses all gathered reports as stale: "pid 7 <why>".
void RefuseReports(ExecutorLock& held, ProcNode& node, std::string_view why);
// The procedure no longer exists: kNotFound.
void RefuseVerb(ExecutorLock& held, ProcId pid, VerbRequest request);
// Answers all verbs that wait for `node`, which has ended.
void RefuseVerbs(ExecutorLock& held, ProcNode& node);
// Answers an abort of a root that can no longer be aborted, or need not be.
void AnswerAbort(ExecutorLock& held, ProcNode& root, const Status& answer);

// Results of finished procedures: how long they stay.

void Acknowledge(ExecutorLock& held, ProcId pid);

// Removes results that are old enough, acknowledged, or beyond the maximum; nonces go with their procedures. One batch.
void EvictResults(ExecutorLock& held);

// The lower bound of server-wide orders, S19 (executed orders are remembered).

// No unfinished procedure has a lower pid. The bound is only ever raised. Skips the numbers that no procedure can have:
// between the last pid that was loaded and the first new one there may be a million, S117 (pid limit).
[[nodiscard]] ProcId LowestLive(ExecutorLock& held);

}  // namespace ratchet::procedure
