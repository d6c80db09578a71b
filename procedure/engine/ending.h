// The end of a procedure: what is told of it, and how its descendants leave memory.
#pragma once

#include <vector>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// The durable state is final: counts, tells listeners and those that wait; the parent goes on after its last child.
void Finish(Session& session, ProcNode& node);

// Removes a finished subtree below `node` from memory.
void RemoveDescendants(Session& session, ProcNode& node);
// The pids of that subtree, for the store.
[[nodiscard]] std::vector<ProcId> DescendantsToDelete(ProcNode& node);

}  // namespace ratchet::procedure
