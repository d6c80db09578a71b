// Decides when a cluster has recovered while loads are running. Loads begin transitions all the time, so there may be
// no moment without a transition. Instead, the transitions that the first check found must have ended.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace ratchet::chaos {

// Pure. Not thread-safe.
class TransitionWatch {
 public:
  using Transitions = std::set<std::pair<std::string /*encoded region*/, std::uint64_t /*procedure*/>>;

  // `now`: the transitions in progress. Returns true when all transitions of the first check since the last Reset have
  // ended.
  [[nodiscard]] bool HaveEnded(const Transitions& now) {
    if (!begun_) {
      begun_ = true;
      first_ = now;
    } else {
      std::erase_if(first_, [&now](const auto& transition) { return !now.contains(transition); });
    }
    return first_.empty();
  }
  // Call when another condition did not hold: the next check is the first one.
  void Reset() { begun_ = false; }

 private:
  bool begun_ = false;
  Transitions first_;
};

}  // namespace ratchet::chaos
