#include "chaos/faults/phase_deck.h"

#include <utility>

#include "chaos/report/phase_table.h"

namespace ratchet::chaos {

PhasePair PhaseDeck::Next() {
  if (deck_.empty()) {
    for (const Phase& phase : AllPhases()) {
      for (const auto second : kSecondFaults) {
        if (CanBePlaced(second, phase)) deck_.push_back({second, phase});
      }
    }
    for (std::size_t i = deck_.size(); i > 1; --i) std::swap(deck_[i - 1], deck_[prng_.Below(i)]);
  }
  PhasePair next = deck_.front();
  deck_.pop_front();
  return next;
}

}  // namespace ratchet::chaos
