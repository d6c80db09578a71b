// Why a history is not linearizable, in as few operations as possible. For linearizability.cc. Pure.
#pragma once

#include <string>
#include <vector>

#include "chaos/history/check_limits.h"
#include "chaos/history/operation.h"

namespace ratchet::chaos {

// Finds the first answer that no order explains any more, and shows the operations since the last moment before it at
// which none was under way, with what the key may have held at that moment. `operations` must not be linearizable.
[[nodiscard]] std::string Explain(const std::vector<const Operation*>& operations, const Value& initial,
                                  const CheckLimits& limits);

}  // namespace ratchet::chaos
