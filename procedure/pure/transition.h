// The heart: what a step's outcome makes of a procedure. Pure: (durable state, facts, outcome) -> new durable state and
// what is to happen once it is durable. Nothing here waits, locks, stores or looks at a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "procedure/author/procedure.h"
#include "procedure/author/step_outcome.h"
#include "procedure/pure/want.h"
#include "procedure/record/durable_record.h"

namespace ratchet::procedure {

// What becomes of the locks that the procedure itself holds, once the outcome is durable.
enum class LockAction : std::uint8_t { kKeep, kRelease, kHandOver };

// What the heart needs to know of the surroundings.
struct TransitionFacts {
  bool is_root = true;
  bool tree_past_no_return = false;
  bool tree_failing = false;
  bool hold_locks = false;          // Procedure::HoldLocks
  bool keeps_for_children = false;  // holds locks of succeeded children, or the children being spawned have undo (S16)
  const StepRow* row = nullptr;     // of the step that ran
  const StepRow* next_row = nullptr;  // of Next::state or Spawn::resume_at; null for other outcomes
  std::uint64_t order = 0;            // place in the order of execution, for a step that completes (S13)
  std::int64_t now_ms = 0;            // wall clock, shown only
  std::size_t history_bound = 0;
};

// "its step table has no state 9", of the step to run or one to undo: written by another version. Empty: it can go on.
[[nodiscard]] std::string UnknownState(const Procedure& procedure, const Durable& durable);

// What else an outcome means, besides the new durable state.
struct TransitionEffects {
  bool commit = true;
  Want want = Want::kRun;
  LockAction locks = LockAction::kKeep;
  bool passes_no_return = false;  // the root's next state is the tree's point of no return
  bool drops_children = false;    // finished children of earlier rounds are no longer needed
  bool failed = false;            // the tree is to be undone
};

struct Transition : TransitionEffects {
  Durable next;  // meaningful when `commit`
};

// `data`: the procedure's data after the step. `history`: the entry of this run. Requires facts.row, and next_row for
// Next and Spawn (the caller has turned an unknown state into an exception).
[[nodiscard]] Transition ApplyOutcome(const Durable& now, const TransitionFacts& facts, const StepOutcome& outcome,
                                      std::string data, const StepHistoryEntry& history);

// The same in place: `durable` is the state before, and becomes the one after.
[[nodiscard]] TransitionEffects ApplyOutcomeTo(Durable& durable, const TransitionFacts& facts,
                                               const StepOutcome& outcome, std::string data,
                                               const StepHistoryEntry& history);

// An uncaught exception or a broken rule in a step: fails the tree, or parks the procedure behind the point of no
// return.
[[nodiscard]] Transition ApplyException(const Durable& now, const TransitionFacts& facts, const Error& error,
                                        const StepHistoryEntry& history);
[[nodiscard]] TransitionEffects ApplyExceptionTo(Durable& durable, const TransitionFacts& facts, const Error& error,
                                                 const StepHistoryEntry& history);

// The root goes on after its children with a state that is the point of no return: recorded before that state runs.
[[nodiscard]] Durable PassNoReturn(const Durable& now, std::int64_t now_ms);

// The procedure's tree fails while it is idle: by abort (root) or because another member failed. `begun`: its current
// step may have run. The current step is then undone too.
[[nodiscard]] Durable FailIdle(const Durable& now, const StepRow* row, bool begun, std::uint64_t order,
                               const Error& error, std::int64_t now_ms);

// The undo of the newest entry has succeeded.
[[nodiscard]] Durable PopUndo(const Durable& now, bool is_root, const StepHistoryEntry& history, std::int64_t now_ms,
                              std::size_t history_bound, std::string data);

}  // namespace ratchet::procedure
