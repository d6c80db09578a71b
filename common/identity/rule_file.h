// Reads the small text files of rules: one rule a line, '#' begins a comment, empty lines count for nothing. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::identity {

inline constexpr std::size_t kMostRuleFileBytes = 256u << 10;
inline constexpr std::size_t kMostRules = 1'000;

struct RuleLine {
  std::size_t number = 0;          // in the file, from 1
  std::vector<std::string> words;  // split by spaces and tabs; at least one
};

// The error names the bound or the line.
[[nodiscard]] Result<std::vector<RuleLine>> SplitRules(std::string_view text);
// The error names the file. Blocks at the file.
[[nodiscard]] Result<std::string> ReadRuleFile(const std::string& path);

// A name from outside as part of a message: printable, and not long.
[[nodiscard]] std::string ShownName(std::string_view name);

}  // namespace ratchet::identity
