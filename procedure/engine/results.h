// Results of finished procedures: how long they stay.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

void Acknowledge(Session& session, ProcId pid);

// Forgets what is old enough, acknowledged, or too many; nonces go with their procedures. One batch.
void EvictResults(Session& session);

}  // namespace ratchet::procedure
