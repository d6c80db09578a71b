// The outcomes of a step: a closed set, visited without a default.
//
// Durable before anything else happens: Next, Spawn, Await, Done, Fail, EndFailed (and the data that the step changed).
// Not durable: Retry, Yield and an in-memory Await (StepContext::AwaitAsync). The executor resets data that such a step
// changed to its durable content. So EVERY run of a step starts from durable data, and no step acts on something that a
// crash would forget.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "procedure/api/event.h"

namespace ratchet::procedure {

// The stable number of a state in its type's step table; stored, never 0, never reused.
using StepNo = std::uint32_t;

class Procedure;
using ProcedurePtr = std::unique_ptr<Procedure>;

// Continue with `state`. Locks are kept.
struct Next {
  StepNo state = 0;
};

// Parent and children become durable in one batch. The parent continues with `resume_at` when the last child has
// succeeded. Children are new objects; no order among them may be relied upon. Without children it is a Next.
struct Spawn {
  StepNo resume_at = 0;
  std::vector<ProcedurePtr> children;
};

// Suspend until the ticket's event is woken, a report is absorbed, or `timeout` has passed (StepContext::timed_out).
// Then the SAME state runs again, as it does after a restart (the time-out then starts again, S13 (durations and
// derived counts)). Without a ticket it is a sleep that reports may cut short. `in_memory`: only through
// StepContext::AwaitAsync.
struct Await {
  std::optional<WaitTicket> ticket;
  std::optional<Millis> timeout;
  bool in_memory = false;
};

// Run the same state again later. The attempt number, `why` and the time of the next try are visible meanwhile. Without
// a `delay` the executor's backoff policy chooses one from the attempt number. When the state has used its attempts
// (`max_attempts`, or if that is 0 ExecutorOptions::retry_attempts), the outcome is Fail instead.
struct Retry {
  Error why;
  std::optional<Millis> delay = std::nullopt;
  std::uint32_t max_attempts = 0;
  std::optional<WaitTicket> sooner = std::nullopt;  // a wake-up of its event ends the delay
};

// Run the same state again, after the other procedures in the queue. It is the correct outcome for "interrupted", too.
struct Yield {};

// Succeeded. `result` is kept for the client until it is acknowledged or too old.
struct Done {
  std::string result;
};

// Undo the whole tree. After the tree's point of no return nothing can fail: such a Fail parks the procedure and shows
// `why`.
struct Fail {
  Error why;
};

// End with an error and with nothing to undo: only a root after its point of no return may do this, once it has cleaned
// up its own changes. The client receives the error. For any other procedure this outcome is a broken rule.
struct EndFailed {
  Error why;
};

// [[nodiscard]]: a dropped outcome is a compile error.
struct [[nodiscard]] StepOutcome : std::variant<Next, Spawn, Await, Retry, Yield, Done, Fail, EndFailed> {
  using variant::variant;
};

// Ends the enclosing step with the outcome of `expr`, if it has one. `expr` is an optional StepOutcome; the enclosing
// function returns a StepOutcome or an optional one.
#define RATCHET_STEP(expr)                                                                    \
  do {                                                                                        \
    if (auto&& ratchet_outcome = (expr); ratchet_outcome) return *std::move(ratchet_outcome); \
  } while (false)

// The outcome as stored in the step history and shown to humans. Append only.
enum class OutcomeKind : std::uint8_t {
  kNext = 1,
  kSpawn = 2,
  kAwait = 3,
  kRetry = 4,
  kYield = 5,
  kDone = 6,
  kFail = 7,
  kException = 8,
  kUndone = 9,
  kUndoFailed = 10,
  kEndFailed = 11,
};
[[nodiscard]] OutcomeKind KindOf(const StepOutcome& outcome);
[[nodiscard]] std::string_view OutcomeName(OutcomeKind kind);

}  // namespace ratchet::procedure
