// Puts what happens into the activity stream. Under the executor's lock, after the commit that made it true.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

void Emit(Session& session, ActivityKind kind, const ProcNode& node, StepNo step, std::string detail = {});
// Of the procedure's present state.
inline void Emit(Session& session, ActivityKind kind, const ProcNode& node, std::string detail = {}) {
  Emit(session, kind, node, node.durable.step, std::move(detail));
}
// Of no single procedure.
void Emit(Session& session, ActivityKind kind, std::string detail);

}  // namespace ratchet::procedure
