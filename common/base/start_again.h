// A process that others have taken over from comes again by itself: the same program with the same arguments, by exec,
// in the same process id, as a new incarnation that knows nothing of the old one but how often and why (S75).
//
// Which ends lead here is decided by the exit code alone: a lost session, a fence, a master's refusal, storage that
// hangs or is full. What would happen again (a wrong setting) or needs a human (a failed sync, a broken invariant,
// damage) stays an end.
//
// Life: FromEnvironment first in main; AwaitTurn after the settings are read; Go as main's last act.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"

namespace ratchet {

// What one incarnation leaves to the next, and all that it leaves.
struct PastLives {
  std::uint32_t count = 0;     // how often the process has come again since it was started from outside; 0: never
  std::uint32_t in_a_row = 0;  // without having run for kCalmRun in between
  std::string why;             // the end before this beginning, at most kMaxReason bytes of one line
};

inline constexpr Millis kCalmRun{60'000};
inline constexpr Millis kLongestPauseBeforeAgain{30'000};
inline constexpr std::size_t kMaxReason = 300;

// Pure. "3/1/the reason"; what is not of this form counts as no past.
[[nodiscard]] std::string ToText(const PastLives& past);
[[nodiscard]] PastLives ParsePastLives(std::string_view text);
// The past of the incarnation that follows this one, which ends after `ran_for`.
[[nodiscard]] PastLives PastOfNext(const PastLives& past, const ExitReason& reason, Millis ran_for);
// How long an incarnation with this past waits before it touches anything: nothing, 100 ms, 200 ms, ... 30 s.
[[nodiscard]] Millis PauseBefore(const PastLives& past);
// Whether an end with this code is followed by another incarnation. `past`: of the one that ends. One that had come
// again tries for as long as ZooKeeper or the root cannot be reached, or no descriptor is free; at a start from outside
// that is an end, so that a wrong address or limit is noticed.
[[nodiscard]] bool ComesAgainAfter(int exit_code, const PastLives& past);

// What main tells the process about its life.
struct ProcessLife {
  PastLives past;
  // Ends the process at once, or has it come again: from any thread, without a line of log. Empty: it cannot be done.
  std::function<void(const ExitReason&)> end_at_once;
  bool fault_points_allowed = false;  // --allow-fault-points, for the status
};

class StartAgain {
 public:
  // First in main, while the process has one thread. `argv` outlives everything.
  StartAgain(const Clock& clock, char* const* argv);

  [[nodiscard]] const PastLives& past() const { return past_; }
  // Says what led here, and waits for PauseBefore(past()). False: `exit` was asked for meanwhile.
  [[nodiscard]] bool AwaitTurn(ExitLatch& exit) const;
  [[nodiscard]] bool Follows(const ExitReason& reason, bool enabled) const {
    return enabled && ComesAgainAfter(reason.code, past_);
  }
  // Becomes the next incarnation. Other threads may still run: the kernel ends them first, and closes every descriptor.
  // Signals that are blocked stay so, and one that waits is the next incarnation's. Touches no storage but the
  // program's file and writes no line, so that it works while both hang. Returns only when the program cannot be run.
  void Go(const ExitReason& reason) const;

 private:
  const Clock& clock_;
  char* const* const argv_;
  const TimePoint began_;
  PastLives past_;
};

}  // namespace ratchet
