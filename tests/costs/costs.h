// Compares counted costs of an operation with tests/costs/costs.json. Tests run from the root of the project.
//
// Counts are exact, and a test fails if a count differs in either direction: a cheaper operation changes the file too,
// so that the next change cannot take the gain back unnoticed.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ratchet::costs {

inline constexpr const char* kFile = "tests/costs/costs.json";

// Names and counts, in the order of the file.
using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

// Returns the operation's line in the file, as it is written there, without the comma at its end.
inline std::string LineOf(const std::string& operation, const Counts& counts) {
  std::string line;
  for (const auto& [name, count] : counts) line += fmt::format("{}\"{}\": {}", line.empty() ? "" : ", ", name, count);
  return fmt::format("  \"{}\": {{{}}}", operation, line);
}

inline std::string RecordedLine(const std::string& operation) {
  std::ifstream file(kFile);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(fmt::format("  \"{}\": ", operation))) continue;
    if (line.ends_with(',')) line.pop_back();
    return line;
  }
  return {};
}

inline void ExpectCounts(const std::string& operation, const Counts& counts) {
  const std::string line = LineOf(operation, counts);
  EXPECT_EQ(line, RecordedLine(operation)) << "the new line for " << kFile << " is:\n"
                                           << line << "\na change that raises one must change the file and say why";
}

}  // namespace ratchet::costs
