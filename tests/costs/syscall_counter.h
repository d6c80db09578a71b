// Counts the system calls of a program and all its threads with ptrace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ratchet::costs {

// Runs the command until its end. nullopt: this process may not trace, or the command failed. The process must have no
// other children.
[[nodiscard]] std::optional<std::uint64_t> CountSystemCalls(const std::vector<std::string>& command);

}  // namespace ratchet::costs
