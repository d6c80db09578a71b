// Patterns (regular expressions) that clients send to choose names. Pure.
#pragma once

#include <regex>
#include <string>

#include "common/base/result.h"

namespace ratchet::master {

// DoNotRetryIOException: longer than 1,000 bytes, or no pattern. Names that are matched have to be bounded too:
// std::regex matches by recursion, so that long ones could exhaust the stack.
[[nodiscard]] Result<std::regex> CompilePattern(const std::string& text);

}  // namespace ratchet::master
