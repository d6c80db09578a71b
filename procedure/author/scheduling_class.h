// Which scheduling class and which queue a procedure belongs to, derived from its locks unless it says otherwise.
#pragma once

#include "procedure/author/lock_request.h"
#include "procedure/author/procedure.h"

namespace ratchet::procedure {

// Never kByLocks.
[[nodiscard]] Priority EffectivePriority(const Procedure& procedure);

struct SchedulingPlace {
  Priority priority = Priority::kTableUser;  // never kByLocks
  // The resource whose queue the procedure stands in, for round robin: its table, server, peer, ..., or its type when
  // it locks nothing.
  ResourceKey queue;
  bool exclusive = false;  // it locks that resource exclusively
};
[[nodiscard]] SchedulingPlace PlaceOf(const Procedure& procedure);

}  // namespace ratchet::procedure
