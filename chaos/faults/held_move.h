// A region's move that cannot end while it is held, so that a kill of the master certainly meets an unfinished
// procedure. Runs on the driver's thread.
#pragma once

#include <cstdint>
#include <string>

#include "chaos/faults/victims.h"

namespace ratchet::chaos {

class HeldMove {
 public:
  // Pauses a region server without hbase:meta that is not in `spare`, and submits a move of one of its regions: the
  // order to close waits there. After an error (no region to move, or no server answers) no process is paused.
  [[nodiscard]] Status Begin(Target& target, Prng& prng, const Victims& spare);
  // Resumes the server; if called soon, before its session ends. Idempotent.
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
