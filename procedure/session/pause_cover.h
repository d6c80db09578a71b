// Which procedures a pause covers. Under the executor's lock.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// `scope` covers `node`. Of a busy node the stored data tells which locks it wants, not its object.
[[nodiscard]] bool Covers(Session& session, const PauseScope& scope, const ProcNode& node);

// The pause that covers `node`, null when there is none. Also for a node that is not in the tree yet. The object of a
// busy node is not looked at: its stored data tells which locks it wants.
[[nodiscard]] const PauseInfo* PausedBy(Session& session, const ProcNode& node);

}  // namespace ratchet::procedure
