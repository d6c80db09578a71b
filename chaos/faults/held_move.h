// A region's move that cannot end while it is held: a master that is killed meanwhile leaves something unfinished for
// certain. The driver's thread.
#pragma once

#include <cstdint>
#include <string>

#include "chaos/faults/victims.h"

namespace ratchet::chaos {

class HeldMove {
 public:
  // Stops a region server that has neither hbase:meta nor a name in `spare`, and has one of its regions moved away: the
  // order to close waits there. An error: there is nothing to move, or no server answers; then no process is stopped
  // any more.
  [[nodiscard]] Status Begin(Target& target, Prng& prng, const Victims& spare);
  // The server goes on, before its session ends if this comes soon. Idempotent.
  void LetGo(Target& target);

  [[nodiscard]] std::uint64_t pid() const { return pid_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // "pid=17 TransitRegionState ..."

 private:
  [[nodiscard]] Status MoveOneOf(Target& target, Prng& prng, const Victims& movable);

  std::string stopped_;
  std::uint64_t pid_ = 0;
  std::string text_;
};

}  // namespace ratchet::chaos
