// Adds events to the activity stream. Under the executor's lock, after the commit that made the event true.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

void Emit(ExecutorLock& held, ActivityKind kind, const ProcNode& node, StepNo step, std::string detail = {});
// An event of the procedure's current state.
inline void Emit(ExecutorLock& held, ActivityKind kind, const ProcNode& node, std::string detail = {}) {
  Emit(held, kind, node, node.durable.step, std::move(detail));
}
// An event that concerns no single procedure.
void Emit(ExecutorLock& held, ActivityKind kind, std::string detail);

}  // namespace ratchet::procedure
