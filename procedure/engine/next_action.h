// The next action of a procedure once it is free, with the data that belongs only to that action: a ticket, a time
// limit and a timer exist only while it waits. SetNextAction makes each move. Values; the executor's lock guards them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "common/base/clock.h"
#include "procedure/api/event.h"
#include "procedure/core/next_action_kind.h"

namespace ratchet::procedure {

// One wait, from the decision to wait to its end.
struct Wait {
  enum class Stage : std::uint8_t {
    kToBegin,   // not in the wait table, no timer
    kUnderWay,  // in the wait table if it had a ticket; has a timer if it has a limit
    kOver,      // it ended while the procedure was busy: noticed when that is done
  };
  std::optional<WaitTicket> ticket;  // what it waits for; spent when the wait begins
  std::optional<Millis> limit;       // time-out, or backoff
  Stage stage = Stage::kToBegin;
  Timers::Handle timer = 0;  // 0: none
  TimePoint due{};           // due time of the timer
};

struct ToRun {};
struct ToRunAgain {};
struct ForChildren {};
struct ForEvent {
  Wait wait;
};
struct ForAsync {
  Wait wait;
  std::uint64_t arrivals = 0;  // number of arrivals of asynchronous work that the step had seen
};
struct ForRetry {
  Wait wait;
};
struct ForOperator {};
struct ForUndo {
  std::optional<Wait> backoff;  // before the next try of an undo that failed
};
struct Ended {
  std::optional<Wait> backoff;  // likewise, for a succeeded child whose tree is undone
};
// In the order of NextActionKind.
using NextAction =
    std::variant<ToRun, ToRunAgain, ForChildren, ForEvent, ForAsync, ForRetry, ForOperator, ForUndo, Ended>;

[[nodiscard]] inline NextActionKind KindOf(const NextAction& next_action) {
  return static_cast<NextActionKind>(next_action.index());
}
// Makes an action without the details of a wait.
[[nodiscard]] NextAction NextActionOf(NextActionKind kind);
// Null: the action does not wait for an event, asynchronous work or a backoff.
[[nodiscard]] Wait* WaitIn(NextAction& next_action);
[[nodiscard]] const Wait* WaitIn(const NextAction& next_action);

}  // namespace ratchet::procedure
