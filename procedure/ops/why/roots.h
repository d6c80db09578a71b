// The waits that are not procedures: the master itself, tables without a procedure, pauses, and problems that the
// master's monitors have found.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/model/proto/why.pb.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// A table whose descriptor cannot be read, or which is between two states without a procedure that works on it.
[[nodiscard]] std::optional<::ratchet::pb::WhyChain> ChainOfTable(const WhyFacts& facts, const std::string& name);
void AddOwnChains(const WhyFacts& facts, const std::function<void(::ratchet::pb::WhyChain)>& add);

}  // namespace ratchet::host
