// Puts what happens into the event stream. Under the executor's lock, after the commit that made it true.
#pragma once

#include "procedure/core.h"

namespace ratchet::procedure {

void Emit(Session& session, EventKind kind, const ProcNode& node, StepNo step, std::string detail = {});
// Of the procedure's present state.
inline void Emit(Session& session, EventKind kind, const ProcNode& node, std::string detail = {}) {
  Emit(session, kind, node, node.durable.step, std::move(detail));
}
// Of no single procedure.
void Emit(Session& session, EventKind kind, std::string detail);

}  // namespace ratchet::procedure
