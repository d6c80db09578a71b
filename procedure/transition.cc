#include "procedure/transition.h"

#include "common/base/check.h"
#include "common/base/mutant.h"

namespace ratchet::procedure {
namespace {

// Applies one outcome; `t.next` starts as a copy of the state before.
class Applier {
 public:
  Applier(Transition& t, const TransitionFacts& facts) : t_(t), facts_(facts) {}

  void operator()(const Next& next) {
    CompleteStep();
    Enter(next.state);
    PassIfNoReturn();
    t_.want = Want::kRun;
  }

  void operator()(const Spawn& spawn) {
    CompleteStep();
    Enter(spawn.resume_at);
    if (spawn.children.empty() || facts_.tree_failing) {
      PassIfNoReturn();
      t_.want = Want::kRun;
      return;
    }
    // A point of no return in `resume_at` is passed when the children have succeeded, not before: PassNoReturn.
    if (t_.drops_children) t_.next.children = 0;
    if (t_.next.children) *t_.next.children += static_cast<std::uint32_t>(spawn.children.size());
    t_.next.spawn_round += 1;
    t_.next.resumed_round = t_.next.spawn_round;
    t_.next.state = ProcState::kWaiting;
    t_.want = Want::kChildren;
    LetGoUnlessKept();
  }

  void operator()(const Await& await) {
    if (await.in_memory) {
      NotDurable(Want::kOnce);
      return;
    }
    t_.next.state = ProcState::kWaitingTimeout;
    t_.want = Want::kEvent;
    LetGoUnlessKept();
  }

  void operator()(const Retry&) {
    NotDurable(Want::kRetry);
    ReleaseOnly();
  }

  void operator()(const Yield&) {
    NotDurable(Want::kRunAgain);
    ReleaseOnly();
  }

  void operator()(const Done& done) {
    CompleteStep();
    t_.next.state = ProcState::kSuccess;
    t_.next.result = done.result;
    t_.want = Want::kFinished;
    t_.drops_children = facts_.is_root || past();
    const bool undoable = !past() && (!t_.next.undo.empty() || facts_.keeps_for_children);
    if (!facts_.is_root && undoable && !RATCHET_MUTANT("procedure.child_releases")) {
      t_.locks = LockAction::kHandOver;
    } else {
      Release();
    }
  }

  void operator()(const Fail& fail) {
    if (past()) {
      Park("failed behind the point of no return: " + fail.why.ToString());
      return;
    }
    FailStep(fail.why);
  }

  void FailStep(const Error& why) {
    // The failed step may have done a part: it is undone like a completed one.
    if (facts_.row->undo == UndoKind::kCall) t_.next.undo.push_back({facts_.row->number, facts_.order});
    t_.next.state = ProcState::kFailed;
    t_.next.error = why;
    t_.want = Want::kUndo;
    t_.failed = true;
  }

  void Park(std::string reason) {
    t_.next.state = ProcState::kRunnable;
    t_.next.parked = std::move(reason);
    t_.want = Want::kOperator;
  }

  [[nodiscard]] bool past() const { return facts_.tree_past_no_return; }

 private:
  void CompleteStep() {
    if (facts_.row->undo == UndoKind::kCall && !past()) {
      t_.next.undo.push_back({facts_.row->number, facts_.order});
    }
  }

  void Enter(StepNo state) {
    t_.drops_children = past() && t_.next.resumed_round != 0;
    t_.next.resumed_round = 0;
    t_.next.step = state;
    t_.next.state = ProcState::kRunnable;
  }

  void PassIfNoReturn() {
    if (!facts_.is_root || past() || facts_.tree_failing || facts_.next_row->undo != UndoKind::kPointOfNoReturn) return;
    t_.passes_no_return = true;
    t_.drops_children = true;
    t_.next.past_no_return = true;
    t_.next.undo.clear();
  }

  // S16: what has to be undone, or may have to be, keeps its locks. A step that waits or is to run again may have acted in an
  // earlier run of which nothing is on record, and would be undone like a completed one.
  [[nodiscard]] bool Keeps() const {
    if (facts_.hold_locks) return true;
    const bool past_now = past() || t_.passes_no_return;
    const bool may_have_acted = facts_.row->undo == UndoKind::kCall && !RATCHET_MUTANT("procedure.waiting_step_releases");
    return !past_now && (!t_.next.undo.empty() || facts_.keeps_for_children || may_have_acted);
  }
  void Release() {
    t_.next.locks.clear();
    t_.locks = LockAction::kRelease;
  }
  void LetGoUnlessKept() {
    if (!Keeps()) Release();
  }
  // Retry and Yield store nothing of the step, but what they release must be on record first.
  void ReleaseOnly() {
    if (Keeps() || t_.next.locks.empty()) return;
    Release();
    t_.commit = true;
  }
  void NotDurable(Want want) {
    t_.commit = false;
    t_.want = want;
  }

  Transition& t_;
  const TransitionFacts& facts_;
};

bool IsDurable(const StepOutcome& outcome) {
  if (const auto* await = std::get_if<Await>(&outcome)) return !await->in_memory;
  return !std::holds_alternative<Retry>(outcome) && !std::holds_alternative<Yield>(outcome);
}

}  // namespace

Transition ApplyOutcome(const Durable& now, const TransitionFacts& facts, const StepOutcome& outcome, std::string data,
                        StepHistoryEntry history) {
  RATCHET_CHECK(facts.row != nullptr, "the step that ran has a row");
  Transition t;
  const bool durable = IsDurable(outcome);
  t.next = now;
  if (durable) t.next.data = std::move(data);
  Applier applier(t, facts);
  std::visit(applier, static_cast<const StepOutcome::variant&>(outcome));
  if (t.drops_children && t.want != Want::kChildren) t.next.children = 0;
  if (t.commit) {
    t.next.version += 1;
    t.next.updated_ms = facts.now_ms;
    if (durable) AddHistory(t.next, std::move(history), facts.history_bound);
  }
  return t;
}

Transition ApplyException(const Durable& now, const TransitionFacts& facts, const Error& error,
                          StepHistoryEntry history) {
  Transition t;
  t.next = now;
  Applier applier(t, facts);
  if (applier.past()) {
    applier.Park(error.ToString());
  } else {
    applier.FailStep(error);
  }
  t.next.version += 1;
  t.next.updated_ms = facts.now_ms;
  AddHistory(t.next, std::move(history), facts.history_bound);
  return t;
}

Durable PassNoReturn(const Durable& now, std::int64_t now_ms) {
  Durable next = now;
  next.past_no_return = true;
  next.undo.clear();
  next.state = ProcState::kRunnable;
  next.version += 1;
  next.updated_ms = now_ms;
  return next;
}

Durable FailIdle(const Durable& now, const StepRow* row, bool begun, std::uint64_t order, const Error& error,
                 std::int64_t now_ms) {
  Durable next = now;
  const bool between_steps = now.state == ProcState::kWaiting;
  if (begun && !between_steps && row != nullptr && row->undo == UndoKind::kCall) next.undo.push_back({row->number, order});
  next.state = ProcState::kFailed;
  next.error = error;
  next.version += 1;
  next.updated_ms = now_ms;
  return next;
}

Durable PopUndo(const Durable& now, bool is_root, StepHistoryEntry history, std::int64_t now_ms, std::size_t history_bound,
                std::string data) {
  Durable next = now;
  RATCHET_CHECK(!next.undo.empty(), "nothing to undo");
  next.undo.pop_back();
  next.data = std::move(data);
  if (next.undo.empty() && !is_root) next.state = ProcState::kRolledBack;
  next.version += 1;
  next.updated_ms = now_ms;
  AddHistory(next, std::move(history), history_bound);
  return next;
}

}  // namespace ratchet::procedure
