// The whole answer of `ratchet why`: the subject that is meant, what waits for it, and a one-line summary.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.h"
#include "common/model/proto/why.pb.h"
#include "procedure/ops/why/chain.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// Empty `subject`: the cluster. Errors: as WhyHost::RootsOf. At most `limit` chains, one for each cause, the longest
// wait first.
[[nodiscard]] Result<::ratchet::pb::WhyResponse> AnswerWhy(const WhyHost& host, const std::string& subject,
                                                           std::size_t limit);

// Answers RatchetService.Why. An unknown subject is also a regular answer, because errors lose their kind on the wire.
[[nodiscard]] ::ratchet::pb::WhyResponse AnswerRequest(const WhyHost& host, const ::ratchet::pb::WhyRequest& request);

// "2 things wait, the longest for 41.0 s: pid 12 ...: <cause>"; "nothing waits".
[[nodiscard]] std::string VerdictOf(const ::ratchet::pb::WhyResponse& answer);

}  // namespace ratchet::host
