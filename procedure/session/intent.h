// What a procedure does once it is free, with what belongs to that alone: a ticket, a time limit and a timer exist only
// while it waits. SetIntent makes each move. Values; the executor's session guards them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "common/base/clock.h"
#include "procedure/author/event.h"
#include "procedure/pure/want.h"

namespace ratchet::procedure {

// One wait, from the decision to wait to its end.
struct Wait {
  enum class Stage : std::uint8_t {
    kToBegin,   // not in the wait table, no timer
    kUnderWay,  // in the wait table if it had a ticket; has a timer if it has a limit
    kOver,      // it ended while something else was being done with the procedure: seen when that is done
  };
  std::optional<WaitTicket> ticket;  // what it waits for; spent when the wait begins
  std::optional<Millis> limit;       // time-out, or backoff
  Stage stage = Stage::kToBegin;
  Timers::Handle timer = 0;  // 0: none
  TimePoint due{};           // of the timer
};

struct ToRun {};
struct ToRunAgain {};
struct ForChildren {};
struct ForEvent {
  Wait wait;
};
struct ForOnce {
  Wait wait;
  std::uint64_t arrivals = 0;  // of asynchronous work that the step had seen
};
struct ForRetry {
  Wait wait;
};
struct ForOperator {};
struct ForUndo {
  std::optional<Wait> backoff;  // before the next try of an undo that failed
};
struct Ended {
  std::optional<Wait> backoff;  // the same, of a succeeded child whose tree is undone
};
// In the order of Want.
using Intent = std::variant<ToRun, ToRunAgain, ForChildren, ForEvent, ForOnce, ForRetry, ForOperator, ForUndo, Ended>;

[[nodiscard]] inline Want WantOf(const Intent& intent) { return static_cast<Want>(intent.index()); }
// Without a wait's details.
[[nodiscard]] Intent IntentOf(Want want);
// Null: it is not one that waits for an event, asynchronous work or a backoff.
[[nodiscard]] Wait* WaitIn(Intent& intent);
[[nodiscard]] const Wait* WaitIn(const Intent& intent);

}  // namespace ratchet::procedure
