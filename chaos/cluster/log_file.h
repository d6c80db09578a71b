// Reading the log of a process while it is being written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ratchet::chaos {

// 0 when there is no such file.
[[nodiscard]] std::uint64_t FileSize(const std::filesystem::path& file);
// Lines that begin at `from_byte` or later.
[[nodiscard]] std::vector<std::string> LinesContaining(const std::filesystem::path& file, const std::string& text,
                                                       std::uint64_t from_byte);
// The name under which a region server says that it serves; empty when it has not said so from there on.
[[nodiscard]] std::string ServingName(const std::filesystem::path& file, std::uint64_t from_byte);

}  // namespace ratchet::chaos
