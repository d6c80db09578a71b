// Histories as files: one JSON object a line, one line an operation (docs/history-format.md). Not thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chaos/history/operation.h"

namespace ratchet::chaos {

// Without the newline.
[[nodiscard]] std::string ToJsonLine(const Operation& operation);
// kCorruption names the field that is wrong.
[[nodiscard]] Result<Operation> FromJsonLine(std::string_view line);

[[nodiscard]] Status WriteHistory(const std::filesystem::path& file, const History& history);
// Empty lines and lines that begin with '#' are skipped. kNotFound; kCorruption names the line.
[[nodiscard]] Result<History> ReadHistory(const std::filesystem::path& file);

}  // namespace ratchet::chaos
