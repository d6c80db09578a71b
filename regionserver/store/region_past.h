// Compares a region's directory with the numbers in the master's order to open it. It refuses an opening that would
// begin with an older state, or whose order came from a master with an older store (S38: no empty opening over data;
// S53: opening starts with full state; S118: older copy stays closed).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// The region's past according to the master's order (S38, S53).
struct RegionPast {
  bool opened_before = false;      // the master knows of an earlier opening, so some manifest has a state
  std::uint64_t build_number = 0;  // number of the build that has made the region out of others:
                                   // manifest.<build_number> or a higher one has a state. 0: it was created empty
  // S118: what the master, or the region's row, knows of the numbers of its openings and builds.
  std::uint64_t issued = 0;   // no higher number was given; 0: unknown
  std::uint64_t served = 0;   // this opening has served; 0: unknown
  std::uint64_t flushed = 0;  // a close has flushed up to this sequence; 0: unknown
};

// S118: name of the file by which an operator allows the region to open with the state of manifest.<number>, although
// it is an older copy.
[[nodiscard]] std::string AcceptedCopyName(std::uint64_t number);

// The newest readable state.
struct FoundState {
  std::uint64_t number = 0;  // number of its manifest; 0: there is none
  std::uint64_t flushed_sequence = 0;
};

// Call before opening `open_number` makes a claim. kWentBack, class StoreWentBack: the directory has a number between
// `past.issued` and `open_number`.
[[nodiscard]] Status CheckIssued(io::Directory& directory, const RegionPast& past, std::uint64_t open_number);

// kCorruption: an opening or a build that the order names has left no state. kWentBack, class OlderCopy: the state is
// older than an opening that served, or than a flush. `names` is a sorted listing of the directory.
[[nodiscard]] Status CheckPast(const io::Directory& directory, const std::vector<std::string>& names,
                               const RegionPast& past, const FoundState& newest);

}  // namespace ratchet::regionserver
