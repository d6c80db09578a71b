// Restarts a process that others have taken over from: the same program with the same arguments, by exec, in the same
// process id. The new incarnation knows only how often and why it was restarted, S75 (self-restart by exec).
//
// The exit code alone decides: a lost session, a fence, a master's refusal, storage that hangs or is full lead to a
// restart. Ends that would repeat (a wrong setting) or need a human (a failed sync, a broken invariant, damage) do not.
//
// Construct SelfRestart first in main, call AwaitDelay after the settings are read, and Go as the last statement of
// main.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/version.h"

namespace ratchet {

// The history that one incarnation passes to the next; nothing else is passed.
struct RestartHistory {
  std::uint32_t count = 0;     // number of restarts since the process was started from outside; 0: none
  std::uint32_t in_a_row = 0;  // restarts without a run of kCalmRun in between
  std::string why;             // the reason of the last end, at most kMaxReason bytes of one line
};

inline constexpr Millis kCalmRun{60'000};
inline constexpr Millis kLongestDelay{30'000};
inline constexpr std::size_t kMaxReason = 300;

// Pure. "3/1/the reason"; a text that is not of this form counts as no history.
[[nodiscard]] std::string ToText(const RestartHistory& history);
[[nodiscard]] RestartHistory ParseRestartHistory(std::string_view text);
// Returns the history for the next incarnation; this one ends after `ran_for`.
[[nodiscard]] RestartHistory HistoryOfNext(const RestartHistory& history, const ExitReason& reason, Millis ran_for);
// The delay before an incarnation with this history touches anything: none, 100 ms, 200 ms, ... 30 s.
[[nodiscard]] Millis DelayBefore(const RestartHistory& history);
// True if an end with this code leads to a restart. `history`: the history of the incarnation that ends. A restarted
// process retries while ZooKeeper or the root cannot be reached, no descriptor is free, or its own name has no address.
// At a start from outside these are final ends, so that a wrong address or limit is noticed.
[[nodiscard]] bool ShouldRestart(int exit_code, const RestartHistory& history);

// The facts that main passes to the process about its incarnation.
struct ProcessLife {
  RestartHistory history;
  // Ends or restarts the process at once: from any thread, without a log line. Empty: not possible.
  std::function<void(const ExitReason&)> end_at_once;
  bool fault_points_allowed = false;                  // --allow-fault-points, for the status
  std::string version = std::string(kVersionNumber);  // of the program, for status, page and metrics
};

class SelfRestart {
 public:
  // First in main, while the process has one thread. `argv` outlives everything.
  SelfRestart(const Clock& clock, char* const* argv);

  [[nodiscard]] const RestartHistory& history() const { return history_; }
  // Logs the reason of the restart, and waits for DelayBefore(history()). Returns false if `exit` was requested
  // meanwhile.
  [[nodiscard]] bool AwaitDelay(ExitLatch& exit) const;
  [[nodiscard]] bool Follows(const ExitReason& reason, bool enabled) const {
    return enabled && ShouldRestart(reason.code, history_);
  }
  // Becomes the next incarnation. Other threads may still run: the kernel ends them first, and closes every descriptor.
  // Blocked signals stay blocked, and a pending one is delivered to the next incarnation. Touches no storage except the
  // program's file and writes no line, so that it works while both hang. Returns only when the program cannot be run.
  void Go(const ExitReason& reason) const;

 private:
  const Clock& clock_;
  char* const* const argv_;
  const TimePoint began_;
  RestartHistory history_;
};

}  // namespace ratchet
