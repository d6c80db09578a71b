// The whole answer: the subject that is meant, what waits for it, and a one-line summary.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.h"
#include "common/model/proto/why.pb.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// `subject`: a pid, a table, a region (the beginning of its encoded name), a server ("host,port,startcode" or
// "host:port"), each also with the word before it ("table t"); empty: the cluster. kNotFound: the cluster has nothing
// of that name; kInvalidArgument: the name is ambiguous.
// At most `limit` chains, one for each cause, the longest wait first.
[[nodiscard]] Result<::ratchet::pb::WhyResponse> AnswerWhy(const WhyFacts& facts, const std::string& subject,
                                                           std::size_t limit);

// "2 things wait, the longest for 41.0 s: pid 12 ...: <cause>"; "nothing waits".
[[nodiscard]] std::string VerdictOf(const ::ratchet::pb::WhyResponse& answer);

}  // namespace ratchet::host
