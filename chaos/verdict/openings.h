// At most one owner of a region at any time, proven by the openings' numbers (S21): an opening's number is given to one
// server once, and a later number begins above all that was written under an earlier one (at the same sequence where
// nothing was). Pure.
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

// From a region server's log: "... Opened region <encoded>, opening=<n>, first sequence=<n>, ..."
[[nodiscard]] std::optional<Opening> ParseOpening(const std::string& process, const std::string& line);

// All openings of a run, in any order. None at all is no pass.
[[nodiscard]] Finding JudgeOpenings(std::vector<Opening> openings);

}  // namespace ratchet::chaos
