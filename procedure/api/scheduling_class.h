// The scheduling class and the queue of a procedure, derived from its locks unless the procedure declares another one.
#pragma once

#include "procedure/api/executor_options.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/procedure.h"

namespace ratchet::procedure {

struct SchedulingPlace {
  Priority priority = Priority::kTableUser;  // never kByLocks
  // The resource whose queue the procedure is in, for round robin: its table, server, peer, ..., or its type when it
  // locks nothing.
  ResourceKey queue;
  bool exclusive = false;  // it locks that resource exclusively
  bool urgent = false;     // it may run on the reserved capacity
};
[[nodiscard]] SchedulingPlace PlaceOf(const Procedure& procedure, const SystemTables& system);
// `locks`: what procedure.Locks() returns.
[[nodiscard]] SchedulingPlace PlaceOf(const Procedure& procedure, const LockSet& locks, const SystemTables& system);

}  // namespace ratchet::procedure
