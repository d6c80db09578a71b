// The model of a key, one operation at a time: a register with HBase's operations. Pure.
#pragma once

#include <optional>

#include "chaos/history/operation.h"

namespace ratchet::chaos {

// Returns the key's value after `operation` was executed on `before`; nullopt when it cannot have had its recorded
// answer there. An operation of unknown outcome has no answer to contradict. Rules: an append to no value writes the
// suffix; an increment treats no value as 0 and is refused on a value that is not a number; a condition treats no value
// as the empty string.
[[nodiscard]] std::optional<Value> Execute(const Value& before, const Operation& operation);

}  // namespace ratchet::chaos
