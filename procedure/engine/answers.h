// Answers requests that a procedure no longer accepts: reports, verbs, an abort.
#pragma once

#include <string_view>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Refuses all gathered reports as stale: "pid 7 <why>".
void RefuseReports(ExecutorLock& held, ProcNode& node, std::string_view why);
// The procedure no longer exists: kNotFound.
void RefuseVerb(ExecutorLock& held, ProcId pid, VerbRequest request);
// Answers all verbs that wait for `node`, which has ended.
void RefuseVerbs(ExecutorLock& held, ProcNode& node);
// Answers an abort of a root that can no longer be aborted, or need not be.
void AnswerAbort(ExecutorLock& held, ProcNode& root, const Status& answer);

}  // namespace ratchet::procedure
