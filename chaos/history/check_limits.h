// Limits and results of a search for an order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ratchet::chaos {

struct CheckLimits {
  std::size_t configurations = 2'000'000;  // limit per search; about 50 bytes each
};

enum class Linearizability : std::uint8_t {
  kYes,
  kNo,
  kUndecided,  // the limit was reached first: not a pass
};

}  // namespace ratchet::chaos
