// Explains why a history is not linearizable, with as few operations as possible. For linearizability.cc. Pure.
#pragma once

#include <string>
#include <vector>

#include "chaos/history/check_limits.h"
#include "chaos/history/operation.h"

namespace ratchet::chaos {

// Finds the first answer that no order explains. Shows the operations since the last moment before it without an
// operation in progress, and the possible values of the key at that moment. `operations` must not be linearizable.
[[nodiscard]] std::string Explain(const std::vector<const Operation*>& operations, const Value& initial,
                                  const CheckLimits& limits);

}  // namespace ratchet::chaos
