// The logs of all processes as one: what happened in which order. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ratchet::chaos {

struct NamedLog {
  std::string name;  // "rs-2"
  std::vector<std::string> lines;
};

// Sorted by the time at the start of each line, stable; a line without a time (a stack, ZooKeeper's own) stays behind
// the one before it. Each line begins with its time and the name, in columns.
[[nodiscard]] std::vector<std::string> MergeLogs(const std::vector<NamedLog>& logs);

}  // namespace ratchet::chaos
