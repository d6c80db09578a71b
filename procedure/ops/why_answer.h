// Answers RatchetService.Why from facts, and collects the facts that an executor has.
#pragma once

#include "common/model/proto/why.pb.h"
#include "procedure/api/executor.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// Procedures, deadlocks, pauses. `facts.now_ms` is set.
void CollectProcedureFacts(const procedure::Executor& executor, WhyFacts& facts);
// An unknown subject is also a regular answer, because errors lose their kind on the wire.
[[nodiscard]] pb::WhyResponse AnswerRequest(const WhyFacts& facts, const pb::WhyRequest& request);

}  // namespace ratchet::host
