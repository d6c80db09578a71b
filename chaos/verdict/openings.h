// Checks by the openings' numbers that a region has at most one owner at any time (S21: numbered openings): an
// opening's number is given to one server once, and a later opening begins above all sequences of an earlier one (or at
// the same one if nothing was written). Pure.
//
// A server that holds a lower number fails its CHECK as soon as a higher one exists, so two owners at a time would need
// the same number twice, or a number that went backwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

struct Opening {
  std::string process;  // "rs-2"
  std::string region;   // encoded name
  std::uint64_t number = 0;
  std::uint64_t first_sequence = 0;
  bool operator==(const Opening&) const = default;
};

// Parses a line of a region server's log: "... Opened region <encoded>, opening=<n>, first sequence=<n>, ..."
[[nodiscard]] std::optional<Opening> ParseOpening(const std::string& process, const std::string& line);

// Judges all openings of a run, in any order. A run without openings fails.
[[nodiscard]] Finding JudgeOpenings(std::vector<Opening> openings);

}  // namespace ratchet::chaos
