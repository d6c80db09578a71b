// Random histories of one key, for tests and for the speed figure.
#pragma once

#include <cstddef>

#include "chaos/history/operation.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

struct RandomHistoryShape {
  std::size_t operations = 6;
  std::uint32_t clients = 3;
  std::uint32_t unknown_in_1000 = 150;  // operations whose answer is lost
  bool effects_of_unknown = true;       // about half of those are executed all the same
  std::uint32_t lies_in_1000 = 0;       // answers that are replaced by a random one
  std::uint64_t distinct_values = 3;    // 0: every written value is a new one
};

// Runs clients against a register that is atomic, so without lies the history is linearizable by construction.
[[nodiscard]] History RandomHistory(const RandomHistoryShape& shape, Prng& prng);

}  // namespace ratchet::chaos
