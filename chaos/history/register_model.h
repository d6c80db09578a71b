// What a key may do, one operation at a time: a register with HBase's operations. Pure.
#pragma once

#include <optional>

#include "chaos/history/operation.h"

namespace ratchet::chaos {

// The key's value after `operation` was executed on `before`; nullopt when it cannot have had its recorded answer
// there. An operation of unknown outcome has no answer to contradict. Rules: an append to nothing writes the tail; an
// increment takes nothing for 0 and is refused on a value that is no number; a condition takes nothing for the empty
// string.
[[nodiscard]] std::optional<Value> Execute(const Value& before, const Operation& operation);

}  // namespace ratchet::chaos
