// Histories as files: one JSON object per line, one line per operation (docs/history-format.md). Not thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chaos/history/operation.h"

namespace ratchet::chaos {

// Returns the line without the newline.
[[nodiscard]] std::string ToJsonLine(const Operation& operation);
// kCorruption names the wrong field.
[[nodiscard]] Result<Operation> FromJsonLine(std::string_view line);

[[nodiscard]] Status WriteHistory(const std::filesystem::path& file, const History& history);
// Skips empty lines and lines that begin with '#'. kNotFound; kCorruption names the line.
[[nodiscard]] Result<History> ReadHistory(const std::filesystem::path& file);

}  // namespace ratchet::chaos
