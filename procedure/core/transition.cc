#include "procedure/core/transition.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"

namespace ratchet::procedure {

std::string_view NextActionKindName(NextActionKind kind) {
  using enum NextActionKind;
  switch (kind) {
    case kRun: return "run";
    case kRunAgain: return "run_again";
    case kChildren: return "children";
    case kEvent: return "event";
    case kAsync: return "async";
    case kRetry: return "retry";
    case kOperator: return "operator";
    case kUndo: return "undo";
    case kFinished: return "finished";
  }
  return "?";
}

NextActionKind NextActionKindByState(ProcState state) {
  using enum NextActionKind;
  switch (state) {
    case ProcState::kWaiting: return kChildren;
    case ProcState::kFailed: return kUndo;
    case ProcState::kSuccess:
    case ProcState::kRolledBack: return kFinished;
    case ProcState::kInitializing:
    case ProcState::kRunnable:
    case ProcState::kWaitingTimeout: return kRun;
  }
  return kRun;
}

namespace {

// Completes a change that is stored.
void Bump(Durable& next, std::int64_t now_ms) {
  next.version += 1;
  next.updated_ms = now_ms;
}

// Applies one outcome; `next` starts as the state before.
class Applier {
 public:
  Applier(TransitionEffects& t, Durable& next, const TransitionFacts& facts) : t_(t), next_(next), facts_(facts) {}

  void operator()(const Next& next) {
    CompleteStep();
    Enter(next.state);
    PassIfNoReturn();
    t_.next_kind = NextActionKind::kRun;
  }

  void operator()(const Spawn& spawn) {
    CompleteStep();
    Enter(spawn.resume_at);
    if (spawn.children.empty() || facts_.tree_failing) {
      PassIfNoReturn();
      t_.next_kind = NextActionKind::kRun;
      return;
    }
    // A point of no return in `resume_at` is passed when the children have succeeded, not before: PassNoReturn.
    if (t_.drops_children) next_.children = 0;
    if (next_.children) *next_.children += static_cast<std::uint32_t>(spawn.children.size());
    next_.spawn_round += 1;
    next_.resumed_round = next_.spawn_round;
    MoveTo(next_.state, ProcState::kWaiting);
    t_.next_kind = NextActionKind::kChildren;
    if (!Keeps(Holds(LockPolicy::kReleasesWhileChildrenRun))) Release();
  }

  void operator()(const Await& await) {
    if (await.in_memory) {
      NotDurable(NextActionKind::kAsync);
      return;
    }
    MoveTo(next_.state, ProcState::kWaitingTimeout);
    t_.next_kind = NextActionKind::kEvent;
    if (!Keeps(facts_.hold_locks)) Release();
  }

  void operator()(const Retry&) {
    NotDurable(NextActionKind::kRetry);
    ReleaseOnly(Holds(LockPolicy::kReleasesBetweenTries));
  }

  void operator()(const Yield&) {
    NotDurable(NextActionKind::kRunAgain);
    ReleaseOnly(facts_.hold_locks);
  }

  void operator()(const Done& done) {
    CompleteStep();
    MoveTo(next_.state, ProcState::kSuccess);
    next_.result = done.result;
    t_.next_kind = NextActionKind::kFinished;
    t_.drops_children = facts_.is_root || past();
    const bool undoable = !past() && (!next_.undo.empty() || facts_.keeps_for_children);
    if (!facts_.is_root && undoable && !RATCHET_MUTANT("procedure.child_releases")) {
      t_.locks = LockAction::kHandOver;
    } else {
      Release();
    }
  }

  void operator()(const Fail& fail) {
    if (past()) {
      ParkStep("failed after the point of no return: " + fail.why.ToString());
      return;
    }
    FailStep(fail.why);
  }

  void operator()(const EndFailed& failed) {
    CompleteStep();
    MoveTo(next_.state, ProcState::kFailed);
    MoveTo(next_.state, ProcState::kRolledBack);
    next_.error = failed.why;
    t_.next_kind = NextActionKind::kFinished;
    t_.drops_children = true;
    Release();
  }

  void FailStep(const Error& why) {
    // The failed step may have done a part: it is undone like a completed one.
    if (facts_.row->undo == UndoKind::kCall) next_.undo.push_back({facts_.row->number, facts_.order});
    MoveTo(next_.state, ProcState::kFailed);
    next_.error = why;
    t_.next_kind = NextActionKind::kUndo;
    t_.failed = true;
  }

  void ParkStep(std::string reason) {
    MoveTo(next_.state, ProcState::kRunnable);
    next_.parked = std::move(reason);
    t_.next_kind = NextActionKind::kOperator;
  }

  [[nodiscard]] bool past() const { return facts_.tree_past_no_return; }

 private:
  void CompleteStep() {
    if (facts_.row->undo == UndoKind::kCall && !past()) {
      next_.undo.push_back({facts_.row->number, facts_.order});
    }
  }

  void Enter(StepNo state) {
    t_.drops_children = past() && next_.resumed_round != 0;
    next_.resumed_round = 0;
    next_.step = state;
    MoveTo(next_.state, ProcState::kRunnable);
  }

  void PassIfNoReturn() {
    if (!facts_.is_root || past() || facts_.tree_failing || facts_.next_row->undo != UndoKind::kPointOfNoReturn) return;
    t_.passes_no_return = true;
    t_.drops_children = true;
    next_.past_no_return = true;
    next_.undo.clear();
  }

  // S16 (parent keeps child locks): a procedure with steps that have to be undone, or may have to be, keeps its locks.
  // A step that waits or will run again may have acted in an earlier run that is not recorded, and would be undone like
  // a completed one.
  [[nodiscard]] bool Keeps(bool holds) const {
    if (holds) return true;
    const bool past_now = past() || t_.passes_no_return;
    const bool may_have_acted =
        facts_.row->undo == UndoKind::kCall && !RATCHET_MUTANT("procedure.waiting_step_releases");
    return !past_now && (!next_.undo.empty() || facts_.keeps_for_children || may_have_acted);
  }
  void Release() {
    next_.locks.clear();
    t_.locks = LockAction::kRelease;
  }
  // True if the locks are held for life, unless the row says that this outcome releases them.
  [[nodiscard]] bool Holds(LockPolicy unless) const {
    return facts_.hold_locks && (facts_.row->locks != unless || RATCHET_MUTANT("procedure.ignore_lock_column"));
  }
  // Retry and Yield store nothing of the step, but the release of locks must be durable first.
  void ReleaseOnly(bool holds) {
    if (Keeps(holds) || next_.locks.empty()) return;
    Release();
    t_.commit = true;
  }
  void NotDurable(NextActionKind kind) {
    t_.commit = false;
    t_.next_kind = kind;
  }

  TransitionEffects& t_;
  Durable& next_;
  const TransitionFacts& facts_;
};

bool IsDurable(const StepOutcome& outcome) {
  if (const auto* await = std::get_if<Await>(&outcome)) return !await->in_memory;
  return !std::holds_alternative<Retry>(outcome) && !std::holds_alternative<Yield>(outcome);
}

}  // namespace

std::string UnknownState(const Procedure& procedure, const Durable& durable) {
  const auto unknown = [&procedure](StepNo step) {
    return procedure.FindRow(step) == nullptr ? fmt::format("its step table has no state {}", step) : std::string();
  };
  const bool runs = !IsTerminal(durable.state) && durable.state != ProcState::kFailed;
  std::string text = runs ? unknown(durable.step) : std::string();
  for (std::size_t i = 0; i < durable.undo.size() && text.empty(); ++i) text = unknown(durable.undo[i].step);
  return text;
}

TransitionEffects ApplyOutcome(Durable& durable, const TransitionFacts& facts, const StepOutcome& outcome,
                               std::string data, const StepHistoryEntry& history) {
  RATCHET_CHECK(facts.row != nullptr, "the step that ran has a row");
  TransitionEffects t;
  const bool recorded = IsDurable(outcome);
  if (recorded) durable.data = std::move(data);
  std::visit(Applier(t, durable, facts), static_cast<const StepOutcome::variant&>(outcome));
  if (t.drops_children && t.next_kind != NextActionKind::kChildren) durable.children = 0;
  if (t.commit) {
    Bump(durable, facts.now_ms);
    if (recorded) AddHistory(durable, history, facts.history_bound);
  }
  return t;
}

TransitionEffects ApplyException(Durable& durable, const TransitionFacts& facts, const Error& error,
                                 const StepHistoryEntry& history) {
  TransitionEffects t;
  Applier applier(t, durable, facts);
  if (applier.past()) {
    applier.ParkStep(error.ToString());
  } else {
    applier.FailStep(error);
  }
  Bump(durable, facts.now_ms);
  AddHistory(durable, history, facts.history_bound);
  return t;
}

Durable PassNoReturn(const Durable& now, std::int64_t now_ms) {
  Durable next = now;
  next.past_no_return = true;
  next.undo.clear();
  MoveTo(next.state, ProcState::kRunnable);
  Bump(next, now_ms);
  return next;
}

Durable FailIdle(const Durable& now, const StepRow* row, bool begun, std::uint64_t order, const Error& error,
                 std::int64_t now_ms) {
  Durable next = now;
  const bool between_steps = now.state == ProcState::kWaiting;
  if (begun && !between_steps && row != nullptr && row->undo == UndoKind::kCall)
    next.undo.push_back({row->number, order});
  MoveTo(next.state, ProcState::kFailed);
  next.error = error;
  Bump(next, now_ms);
  return next;
}

Durable NewState(const Procedure& procedure, bool is_root, std::int64_t now_ms) {
  Durable first;
  first.state = ProcState::kInitializing;
  first.step = procedure.rows().front().number;
  first.data = procedure.SerializeData();
  first.past_no_return = is_root && procedure.rows().front().undo == UndoKind::kPointOfNoReturn;
  Bump(first, now_ms);
  MoveTo(first.state, ProcState::kRunnable);
  return first;
}

void GrantWithInsert(Durable& first, std::vector<LockRequest> locks) { first.locks = std::move(locks); }

Durable UnreadableState(std::uint64_t version) {
  Durable durable;
  durable.version = version;
  return durable;
}

Durable RecordGrant(const Durable& now, std::vector<LockRequest> locks) {
  Durable next = now;
  next.locks = std::move(locks);
  Bump(next, now.updated_ms);
  return next;
}

Durable RecordReports(const Durable& now, std::string data, std::int64_t now_ms) {
  Durable next = now;
  next.data = std::move(data);
  Bump(next, now_ms);
  return next;
}

Durable EndBypassed(const Durable& now, bool is_root, std::int64_t now_ms) {
  Durable next = now;
  MoveTo(next.state, ProcState::kSuccess);
  if (is_root) next.children = 0;
  next.locks.clear();
  Bump(next, now_ms);
  return next;
}

Durable EndRolledBack(const Durable& now, const std::optional<Error>& error, std::int64_t now_ms) {
  Durable next = now;
  MoveTo(next.state, ProcState::kRolledBack);
  next.parked.clear();
  if (error) next.error = error;
  next.locks.clear();
  next.undo.clear();
  next.children = 0;
  Bump(next, now_ms);
  return next;
}

void MarkBypassed(Durable& next) {
  next.bypassed = true;
  next.parked.clear();
  next.undo.clear();
}

void Park(Durable& next, std::string why) { next.parked = std::move(why); }

void Unpark(Durable& next) { next.parked.clear(); }

void AcceptLoss(Durable& next, std::size_t children) { next.children = static_cast<std::uint32_t>(children); }

void SendTo(Durable& next, StepNo step, const std::optional<UndoEntry>& abandoned) {
  if (abandoned) next.undo.push_back(*abandoned);
  next.step = step;
  MoveTo(next.state, ProcState::kRunnable);
  next.parked.clear();
}

void RecordVerb(Durable& next, VerbEntry verb) {
  Bump(next, verb.at_ms);
  AddVerb(next, std::move(verb));
}

void JoinVersion(Durable& next, const Durable& stored) { next.version = stored.version + 1; }

void ResumeAfterChildren(Durable& durable) { MoveTo(durable.state, ProcState::kRunnable); }

void EndWithTree(Durable& durable) { MoveTo(durable.state, ProcState::kRolledBack); }

NextActionKind ResumeFromRecord(Durable& durable, std::uint32_t unfinished_children) {
  ProcState& state = durable.state;
  if (state == ProcState::kInitializing) MoveTo(state, ProcState::kRunnable);
  // An ended procedure keeps its end even if its data cannot be read, because its result can be read.
  if (!durable.parked.empty() && !IsTerminal(state)) return NextActionKind::kOperator;
  NextActionKind kind = NextActionKindByState(state);
  if (state == ProcState::kWaiting && unfinished_children == 0) {
    MoveTo(state, ProcState::kRunnable);
    kind = RATCHET_MUTANT("procedure.wake_from_counter") ? NextActionKind::kEvent : NextActionKind::kRun;
  } else if (state == ProcState::kWaitingTimeout) {
    // Events are forgotten: the step looks again, and its time-out starts again.
    MoveTo(state, ProcState::kRunnable);
    kind = RATCHET_MUTANT("procedure.load_keeps_waiting") ? NextActionKind::kEvent : NextActionKind::kRun;
  }
  return kind;
}

Durable PopUndo(const Durable& now, bool is_root, const StepHistoryEntry& history, std::int64_t now_ms,
                std::size_t history_bound, std::string data) {
  Durable next = now;
  RATCHET_CHECK(!next.undo.empty(), "nothing to undo");
  next.undo.pop_back();
  next.data = std::move(data);
  if (next.undo.empty() && !is_root) MoveTo(next.state, ProcState::kRolledBack);
  Bump(next, now_ms);
  AddHistory(next, history, history_bound);
  return next;
}

}  // namespace ratchet::procedure
