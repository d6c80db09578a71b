// How far a search for an order goes, and what it finds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ratchet::chaos {

struct CheckLimits {
  std::size_t configurations = 2'000'000;  // per search; about 50 bytes each
};

enum class Linearizability : std::uint8_t {
  kYes,
  kNo,
  kUndecided,  // the limit was reached first: not a pass
};

}  // namespace ratchet::chaos
