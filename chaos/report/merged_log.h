// Merges the logs of all processes into one sequence. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ratchet::chaos {

struct NamedLog {
  std::string name;  // "rs-2"
  std::vector<std::string> lines;
};

// Sorts by the time at the start of each line, stable; a line without a time (a stack trace, ZooKeeper's own) stays
// after the previous one. Each line begins with its time and the name, in columns.
[[nodiscard]] std::vector<std::string> MergeLogs(const std::vector<NamedLog>& logs);

}  // namespace ratchet::chaos
