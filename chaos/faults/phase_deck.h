// Chooses the next pair of a phase and a second fault that strikes in it. Pure; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "chaos/report/phases.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

struct PhasePair {
  std::string_view second;  // kind of the second fault (phase_table.h)
  Phase phase;
  bool operator==(const PhasePair&) const = default;
};

// Deals every pair that can be placed once, in an order that the seed decides, before it deals a pair a second time.
class PhaseDeck {
 public:
  explicit PhaseDeck(std::uint64_t seed) : prng_(seed) {}
  [[nodiscard]] PhasePair Next();
  // Call when the phase of a dealt pair was not reached: the pair is dealt again after the other pairs of this round.
  void Missed(const PhasePair& pair) { deck_.push_back(pair); }

 private:
  Prng prng_;
  std::deque<PhasePair> deck_;
};

}  // namespace ratchet::chaos
