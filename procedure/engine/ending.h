// The end of a procedure: notifies those that wait for it, and removes its descendants from memory.
#pragma once

#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// The durable state is final: counts the procedure, notifies listeners and those that wait. After its last child the
// parent resumes.
void Finish(ExecutorLock& held, ProcNode& node);

// Removes a finished subtree below `node` from memory.
void RemoveDescendants(ExecutorLock& held, ProcNode& node);
// The pids of that subtree, for the store.
[[nodiscard]] std::vector<ProcId> DescendantsToDelete(ProcNode& node);

}  // namespace ratchet::procedure
