// Reads the log of a process while it is being written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ratchet::chaos {

// Returns 0 when the file does not exist.
[[nodiscard]] std::uint64_t FileSize(const std::filesystem::path& file);
// Returns lines that begin at `from_byte` or later.
[[nodiscard]] std::vector<std::string> LinesContaining(const std::filesystem::path& file, const std::string& text,
                                                       std::uint64_t from_byte);
// Calls `line` with each whole line from `from_byte` on; returns the offset of the next one.
std::uint64_t FollowLines(const std::filesystem::path& file, std::uint64_t from_byte,
                          const std::function<void(const std::string& line)>& line);

}  // namespace ratchet::chaos
