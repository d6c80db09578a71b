// Decides which procedures a pause covers. Under the executor's lock.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// True if `scope` covers `node`. For a busy node the wanted locks are taken from its stored data, not from its object.
[[nodiscard]] bool Covers(const HeldState& held, const PauseScope& scope, const ProcNode& node);

// Returns the pause that covers `node`, null when there is none. The node need not be in the tree yet. For a
// busy node the wanted locks are taken from its stored data, not from its object.
[[nodiscard]] const PauseInfo* PausedBy(const HeldState& held, const ProcNode& node);

}  // namespace ratchet::procedure
