// Pure state transition: (durable state, facts, outcome of a step) -> new durable state, and the actions to take once
// it is durable. It does not wait, lock, store or look at a clock.
//
// Every change of a procedure's durable state is here (tests/tidy checks this). A change that is stored makes the next
// version of the record.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/state_moves.h"
#include "procedure/api/proc_state.h"
#include "procedure/api/procedure.h"
#include "procedure/api/step_table.h"
#include "procedure/core/record.h"

namespace ratchet::procedure {

// The next action of a procedure once it is free (no step of it running, no commit in flight), and the legal moves.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
enum class NextActionKind : std::uint8_t {
  kRun,       // its step
  kRunAgain,  // run its step, after all others (Yield)
  kChildren,  // wait for its children
  kEvent,     // wait for ticket, report or time-out
  kAsync,     // wait for asynchronous work
  kRetry,     // wait for the backoff
  kOperator,  // parked
  kUndo,      // failed: wait for its undo in the rollback of the tree
  kFinished,
};
inline constexpr std::array kAllNextActionKinds{
    NextActionKind::kRun,      NextActionKind::kRunAgain, NextActionKind::kChildren,
    NextActionKind::kEvent,    NextActionKind::kAsync,    NextActionKind::kRetry,
    NextActionKind::kOperator, NextActionKind::kUndo,     NextActionKind::kFinished};

[[nodiscard]] std::string_view NextActionKindName(NextActionKind kind);
// Returns the next action of a procedure that starts again from its record.
[[nodiscard]] NextActionKind NextActionKindByState(ProcState state);
// Any procedure can be parked, fail with its tree, or be ended by a bypass.
[[nodiscard]] constexpr StateSet<NextActionKind> MovesFrom(NextActionKind from) {
  using enum NextActionKind;
  switch (from) {
    case kRun: return {kRunAgain, kChildren, kEvent, kAsync, kRetry, kOperator, kUndo, kFinished};
    case kRunAgain:
    case kChildren:
    case kEvent:
    case kAsync:
    case kRetry: return {kRun, kOperator, kUndo, kFinished};
    case kOperator: return {kRun, kChildren, kUndo, kFinished};
    case kUndo: return {kOperator, kFinished};
    case kFinished: return {};
  }
  return {};
}
inline constexpr MoveTable kNextActionMoves(kAllNextActionKinds, &MovesFrom);
// Staying is legal: one wait may follow another.
[[nodiscard]] constexpr bool IsLegalMove(NextActionKind from, NextActionKind to) {
  return kNextActionMoves.MayGo(from, to);
}

// The action on the procedure's own locks, once the outcome is durable.
enum class LockAction : std::uint8_t { kKeep, kRelease, kHandOver };

// The facts about the environment that a transition needs.
struct TransitionFacts {
  bool is_root = true;
  bool tree_past_no_return = false;
  bool tree_failing = false;
  bool hold_locks = false;            // Procedure::HoldLocks
  bool keeps_for_children = false;    // holds locks of succeeded children, or the children being spawned have undo, S16
                                      // (parent keeps child locks)
  const StepRow* row = nullptr;       // row of the step that ran
  const StepRow* next_row = nullptr;  // row of Next::state or Spawn::resume_at; null for other outcomes
  // place in the order of execution, for a completed step (S13: durations and derived counts)
  std::uint64_t order = 0;
  std::int64_t now_ms = 0;  // wall clock, shown only
  std::size_t history_bound = 0;
};

// Error if the step to run, or one to undo, is missing from the step table ("its step table has no state 9"), because
// another version wrote it. Empty: the procedure can continue.
[[nodiscard]] std::string UnknownState(const Procedure& procedure, const Durable& durable);

// True if a procedure with unfinished children contradicts itself: its record does not say that it waits for them, S79
// (invalid record is parked).
[[nodiscard]] inline bool RunsBesideChildren(const Durable& durable) {
  return !durable.bypassed && (durable.state == ProcState::kRunnable || durable.state == ProcState::kInitializing ||
                               durable.state == ProcState::kWaitingTimeout);
}

// The effects of an outcome, in addition to the new durable state.
struct TransitionEffects {
  bool commit = true;
  NextActionKind next_kind = NextActionKind::kRun;
  LockAction locks = LockAction::kKeep;
  bool passes_no_return = false;  // the root's next state is the tree's point of no return
  bool drops_children = false;    // finished children of earlier rounds are no longer needed
  bool failed = false;            // the tree must be undone
};

// `durable` is the state before, and becomes the one after, which is meaningful if TransitionEffects::commit is set.
// `data`: the procedure's data after the step. `history`: the entry of this run. Requires facts.row, and next_row for
// Next and Spawn (the caller has turned an unknown state into an exception).
[[nodiscard]] TransitionEffects ApplyOutcome(Durable& durable, const TransitionFacts& facts, const StepOutcome& outcome,
                                             std::string data, const StepHistoryEntry& history);

// An uncaught exception or a broken rule in a step: fails the tree, or parks the procedure behind the point of no
// return.
[[nodiscard]] TransitionEffects ApplyException(Durable& durable, const TransitionFacts& facts, const Error& error,
                                               const StepHistoryEntry& history);

// The root continues after its children with a state that is the point of no return: recorded before that state runs.
[[nodiscard]] Durable PassNoReturn(const Durable& now, std::int64_t now_ms);

// The procedure's tree fails while the procedure is idle: by abort (root) or because another member failed. `begun`:
// its current step may have run. The current step is then undone too.
[[nodiscard]] Durable FailIdle(const Durable& now, const StepRow* row, bool begun, std::uint64_t order,
                               const Error& error, std::int64_t now_ms);

// The state of a new procedure: its first row, runnable.
[[nodiscard]] Durable NewState(const Procedure& procedure, bool is_root, std::int64_t now_ms);
// S14 (durable lock grants): the record of the insert also shows the grant.
void GrantWithInsert(Durable& first, std::vector<LockRequest> locks);
// Stands for a record that cannot be read.
[[nodiscard]] Durable UnreadableState(std::uint64_t version);

// The lock manager has granted `locks`. The time of the last change stays, because a grant is not progress.
[[nodiscard]] Durable RecordGrant(const Durable& now, std::vector<LockRequest> locks);
// Reports were folded into `data`.
[[nodiscard]] Durable RecordReports(const Durable& now, std::string data, std::int64_t now_ms);
// A bypassed procedure without unfinished children ends.
[[nodiscard]] Durable EndBypassed(const Durable& now, bool is_root, std::int64_t now_ms);
// Everything below the root is undone. `error`: the first failure; none: that of the record stays.
[[nodiscard]] Durable EndRolledBack(const Durable& now, const std::optional<Error>& error, std::int64_t now_ms);

// Parts of a verb, in a copy of the durable state; RecordVerb completes the copy.
void MarkBypassed(Durable& next);
void Park(Durable& next, std::string why);
void Unpark(Durable& next);
// The operator has seen that children are missing and lets the procedure continue with those that exist.
void AcceptLoss(Durable& next, std::size_t children);
// `abandoned`: the undo of the current step, which may have acted.
void SendTo(Durable& next, StepNo step, const std::optional<UndoEntry>& abandoned);
void RecordVerb(Durable& next, VerbEntry verb);

// The outcome that gave `next` is stored together with an earlier one of the same procedure: one new version in all.
void JoinVersion(Durable& next, const Durable& stored);

// Changes in memory only, derived from the records of others and never stored (S13: durations and derived counts).
// The last child has ended.
void ResumeAfterChildren(Durable& durable);
// The member ends with its tree, which is rolled back.
void EndWithTree(Durable& durable);
// At load: the procedure starts again from its record. Returns its next action.
[[nodiscard]] NextActionKind ResumeFromRecord(Durable& durable, std::uint32_t unfinished_children);

// The undo of the newest entry has succeeded.
[[nodiscard]] Durable PopUndo(const Durable& now, bool is_root, const StepHistoryEntry& history, std::int64_t now_ms,
                              std::size_t history_bound, std::string data);

}  // namespace ratchet::procedure
