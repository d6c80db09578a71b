// Results of finished procedures: how long they stay.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

void Acknowledge(ExecutorLock& held, ProcId pid);

// Removes results that are old enough, acknowledged, or beyond the maximum; nonces go with their procedures. One batch.
void EvictResults(ExecutorLock& held);

}  // namespace ratchet::procedure
