// The answer to RatchetService.Why, from facts; and what an executor gives of these.
#pragma once

#include "common/model/proto/why.pb.h"
#include "procedure/executor.h"
#include "procedure/host/why/facts.h"

namespace ratchet::host {

// Procedures, rings, pauses. `facts.now_ms` is set.
void TakeProcedureFacts(const procedure::Executor& executor, WhyFacts& facts);
// A subject that is not known is an answer too: errors lose their kind on the way.
[[nodiscard]] pb::WhyResponse AnswerRequest(const WhyFacts& facts, const pb::WhyRequest& request);

}  // namespace ratchet::host
