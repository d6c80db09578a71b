#include "procedure/engine/step_runner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/advance.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/rollback.h"
#include "procedure/engine/run_on.h"
#include "procedure/engine/step_run.h"
#include "procedure/engine/submit.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

// Result of running a step or an undo, which happens without the lock.
struct Ran {
  Status undone;                               // of an undo
  std::optional<Result<StepOutcome>> outcome;  // of a step
  std::string data;
  WantedByChildren wanted;  // by the children that the outcome spawns
};

// Declared in the order of a step's outcome.
void Take(ExecutorLock& held, const WorkerInfo& worker, std::optional<StepRun>& run, std::unique_ptr<RunOn>& on);
void StartRunOn(ExecutorLock& held, const WorkerInfo& worker, std::optional<StepRun>& run, RunOn& on);
ProcNode* TakeResumed(ExecutorLock& held, bool urgent_only);
Ran RunTaken(StepRun& run);
bool Stays(const StepRun& run, const Ran& ran);
std::string DataAfter(const StepRun& run, bool durable);
bool IsDurableOutcome(const Result<StepOutcome>& outcome);
std::unique_ptr<RunOn> ConcludeStep(ExecutorLock& held, StepRun& run, Ran ran, std::unique_ptr<RunOn> on);
void Conclude(ExecutorLock& held, StepRun& run, Ran ran, std::unique_ptr<RunOn>& on);
void EndAtBudget(ExecutorLock& held, const ProcNode& node, StepOutcome& outcome);
TransitionFacts FactsOf(ExecutorLock& held, const ProcNode& node, const Durable& base);
Status CheckOutcome(const ProcNode& node, const StepOutcome& outcome, TransitionFacts& facts);
const Error* ErrorIn(const StepOutcome& outcome);
[[nodiscard]] NextAction WaitAfter(NextActionKind kind, const StepOutcome& outcome, const StepRun& run,
                                   Millis retry_delay);
void GoOnWithoutCommit(ExecutorLock& held, ProcNode& node, const StepOutcome& outcome, Millis retry_delay);
void CommitTransition(ExecutorLock& held, ProcNode& node, const StepRun& run, OutcomeKind outcome,
                      const TransitionEffects& effects, std::unique_ptr<CommitTask> task, std::unique_ptr<RunOn>& on);
void Publish(ExecutorLock& held, ProcNode& node, StepNo step, OutcomeKind outcome, const TransitionEffects& t,
             std::vector<std::unique_ptr<ProcNode>> children);
bool IsDurableKind(OutcomeKind outcome);

}  // namespace

std::size_t StepRunner::Run(const WorkerInfo& worker, std::size_t at_most) {
  std::unique_ptr<RunOn> on;  // outlives the run
  std::optional<StepRun> run;
  {
    ExecutorLock held(core_);
    Take(held, worker, run, on);
    held.Finish();
  }
  std::size_t done = 0;
  while (run) {
    Ran ran = RunTaken(*run);
    ExecutorLock held(core_);  // taken once for the end of this run and the beginning of the next
    if (Stays(*run, ran)) {
      SuspendRun(held, run->node(), *run);
    } else if (ran.outcome) {
      on = ConcludeStep(held, *run, std::move(ran), std::move(on));
    } else {
      ConcludeUndo(held, run->node(), *run, ran.undone, std::move(ran.data));
    }
    run.reset();
    ++done;
    if (on != nullptr) {
      StartRunOn(held, worker, run, *on);
    } else if (done < at_most) {
      held.Drain();  // what this outcome frees may run next
      Take(held, worker, run, on);
    }
    held.Finish();
  }
  return done;
}

namespace {

// Each worker that wakes wakes the next, while there is work.
void WakeNext(ExecutorLock& held) {
  if (held.work_waits()) held.NotifyWorkers(/*urgent=*/held->scheduler.urgent() > 0 || !held->resumed_urgent.empty());
}

// Begins the next procedure's step or undo; leaves `run` empty when there is none for this worker.
void Take(ExecutorLock& held, const WorkerInfo& worker, std::optional<StepRun>& run, std::unique_ptr<RunOn>& on) {
  if (!held->started || held->stopping || held->halted) return;
  on = TakeRunOn(held, worker.urgent_only);
  if (on != nullptr) {
    WakeNext(held);
    StartRunOn(held, worker, run, *on);
    return;
  }
  ProcNode* const resumed = TakeResumed(held, worker.urgent_only);
  SchedItem* const item = resumed != nullptr ? &resumed->sched : held->scheduler.Poll(worker.urgent_only);
  if (item == nullptr) return;
  ProcNode& node = *static_cast<ProcNode*>(item->owner);
  EnterSlot(held->running, node);
  WakeNext(held);
  const bool first = node.work != NodeWork::kUndo && !node.begun && node.durable.history.empty();
  node.run_began = held.core().deps.clock.Now();
  if (resumed == nullptr) {
    ProcedureTree::SetPhase(node, Phase::kRunning);
    if (node.work != NodeWork::kUndo) node.work = NodeWork::kStep;
    node.begun = true;
    node.step_began = node.run_began;
    if (node.work == NodeWork::kUndo) ForgetAsyncResults(node);  // those of the step
  }
  run.emplace(held, node, nullptr);
  run->SetWorker(worker.number);
  if (first) run->SetFirst();
}

void StartRunOn(ExecutorLock& held, const WorkerInfo& worker, std::optional<StepRun>& run, RunOn& on) {
  BeginRunOn(held, on);
  run.emplace(held, *on.node, &on);
  run->SetWorker(worker.number);
}

// Null: no step in progress can continue with this worker.
ProcNode* TakeResumed(ExecutorLock& held, bool urgent_only) {
  auto& line = urgent_only || !held->resumed_urgent.empty() ? held->resumed_urgent : held->resumed;
  if (line.empty()) return nullptr;
  ProcNode* const node = line.front();
  line.pop_front();
  return node;
}

// True if the step or undo waits for its own work. One that has failed after it asked to wait is over.
bool Stays(const StepRun& run, const Ran& ran) {
  if (!run.stays()) return false;
  if (!ran.outcome) return !ran.undone.ok();
  const Await* await = ran.outcome->ok() ? std::get_if<Await>(&**ran.outcome) : nullptr;
  return await != nullptr && await->in_memory && !RATCHET_MUTANT("procedure.own_work_outlives_step");
}

Ran RunTaken(StepRun& run) {
  Ran ran;
  if (run.undoing()) {
    ran.undone = run.RunUndo();
    ran.data = DataAfter(run, ran.undone.ok());
  } else {
    ran.outcome = run.RunStep();
    ran.data = DataAfter(run, IsDurableOutcome(*ran.outcome));
    if (const auto* spawn = ran.outcome->ok() ? std::get_if<Spawn>(&**ran.outcome) : nullptr; spawn != nullptr)
      for (const ProcedurePtr& child : spawn->children) ran.wanted.push_back(WantedBy(child.get(), run.options()));
  }
  return ran;
}

// Every run starts from durable data: resets the changes of a run that is not durable.
std::string DataAfter(const StepRun& run, bool durable) {
  const ProcNode& node = run.node();
  std::string data = node.procedure->SerializeData();
  if (durable || data == run.base().data) return data;
  RATCHET_CHECK(node.procedure->ParseData(run.base().data), "pid {} cannot read its own data", node.id.pid);
  return run.base().data;
}

bool IsDurableOutcome(const Result<StepOutcome>& outcome) {
  if (!outcome.ok()) return false;
  if (const auto* await = std::get_if<Await>(&*outcome)) return !await->in_memory;
  return !std::holds_alternative<Retry>(*outcome) && !std::holds_alternative<Yield>(*outcome);
}

// `on`: what the step ran on, or null. Returns the step that runs next without a commit, or null.
std::unique_ptr<RunOn> ConcludeStep(ExecutorLock& held, StepRun& run, Ran ran, std::unique_ptr<RunOn> on) {
  if (on == nullptr || IsJoined(*ran.outcome)) {
    Conclude(held, run, std::move(ran), on);
    return on;
  }
  EndRun(held, run.node(), run, std::nullopt);
  GoBack(held, std::move(on));
  return nullptr;
}

// Changes `on` to the step that runs next without a commit, or to null.
void Conclude(ExecutorLock& held, StepRun& run, Ran ran, std::unique_ptr<RunOn>& on) {
  ProcNode& node = run.node();
  Result<StepOutcome>& outcome = *ran.outcome;
  std::optional<WaitTicket> spent;
  if (outcome.ok()) EndAtBudget(held, node, *outcome);
  const Await* await = outcome.ok() ? std::get_if<Await>(&*outcome) : nullptr;
  if (await != nullptr) spent = await->ticket;
  if (const auto* retry = outcome.ok() ? std::get_if<Retry>(&*outcome) : nullptr; retry != nullptr)
    spent = retry->sooner;
  EndRun(held, node, run, spent);
  TransitionFacts facts = FactsOf(held, node, run.base());
  auto task = held.NewTask();
  task->next = run.base();
  Status sound = outcome.ok() ? CheckOutcome(node, *outcome, facts) : Status(outcome.error());
  if (auto* spawn = outcome.ok() && sound.ok() ? std::get_if<Spawn>(&*outcome) : nullptr;
      spawn != nullptr && !spawn->children.empty() && !facts.tree_failing) {
    auto made = MakeChildren(held, node, *facts.row, std::move(spawn->children), std::move(ran.wanted));
    if (made.ok()) {
      task->nodes = std::move(*made);
      spawn->children.resize(task->nodes.size());  // moved from; the transition only asks whether there are any
      facts.keeps_for_children = facts.keeps_for_children || AnyHasUndo(held, task->nodes);
    } else {
      sound = made.error();
    }
  }
  if (!sound.ok() && on != nullptr) return GoBack(held, std::exchange(on, nullptr));
  if (!sound.ok()) {
    const TransitionEffects t =
        ApplyException(task->next, facts, sound.error(), run.HistoryEntry(OutcomeKind::kException, &sound.error()));
    task->next_action = NextActionOf(t.next_kind);
    CommitTransition(held, node, run, OutcomeKind::kException, t, std::move(task), on);
    return;
  }
  const TransitionEffects t = ApplyOutcome(task->next, facts, *outcome, std::move(ran.data),
                                           run.HistoryEntry(KindOf(*outcome), ErrorIn(*outcome)));
  const auto* retry = std::get_if<Retry>(&*outcome);
  Millis retry_delay{0};
  if (retry != nullptr) {
    retry_delay = retry->delay ? *retry->delay : BackoffDelay(held.options().retry, node.attempt, held->prng);
  }
  if (t.next_kind != NextActionKind::kRun) task->next_action = WaitAfter(t.next_kind, *outcome, run, retry_delay);
  const bool durable_outcome = t.next_kind != NextActionKind::kAsync && t.next_kind != NextActionKind::kRetry &&
                               t.next_kind != NextActionKind::kRunAgain;
  if (durable_outcome) {
    node.timed_out = false;
    node.unrecorded_runs = 0;
    if (t.locks == LockAction::kKeep) TryGrantAll(held, task->nodes);
    task->batch = std::move(run.staged());
    CommitTransition(held, node, run, KindOf(*outcome), t, std::move(task), on);
    return;
  }
  GoOnWithoutCommit(held, node, *outcome, retry_delay);
  if (t.commit) {
    CommitTransition(held, node, run, KindOf(*outcome), t, std::move(task), on);  // commits the release of its locks
  } else {
    SetNextAction(node, std::move(task->next_action));
    held.Recycle(std::move(task));
    held.Ready(node);
  }
}

// Returns the error for the history.
const Error* ErrorIn(const StepOutcome& outcome) {
  if (const auto* fail = std::get_if<Fail>(&outcome)) return &fail->why;
  if (const auto* failed = std::get_if<EndFailed>(&outcome)) return &failed->why;
  return nullptr;
}

// Returns the node's next action, with the ticket and the limit of a wait.
NextAction WaitAfter(NextActionKind kind, const StepOutcome& outcome, const StepRun& run, Millis retry_delay) {
  NextAction next_action = NextActionOf(kind);
  Wait* wait = WaitIn(next_action);
  if (const auto* retry = std::get_if<Retry>(&outcome); wait != nullptr && retry != nullptr) {
    wait->ticket = retry->sooner;
    wait->limit = retry_delay;
  } else if (const auto* await = std::get_if<Await>(&outcome); wait != nullptr && await != nullptr) {
    wait->ticket = await->ticket;
    wait->limit = await->timeout;
  }
  if (auto* async = std::get_if<ForAsync>(&next_action)) async->arrivals = run.async_arrivals();
  return next_action;
}

// A state that returns Retry has used its attempts: it fails, or is parked after the point of no return.
void EndAtBudget(ExecutorLock& held, const ProcNode& node, StepOutcome& outcome) {
  const auto* retry = std::get_if<Retry>(&outcome);
  if (retry == nullptr) return;
  const std::uint32_t budget = retry->max_attempts != 0 ? retry->max_attempts : held.options().retry_attempts;
  if (budget == 0 || node.attempt < budget) return;
  Fail fail{retry->why.Annotate(fmt::format("gave up after {} attempts", node.attempt))};
  outcome = std::move(fail);
}

TransitionFacts FactsOf(ExecutorLock& held, const ProcNode& node, const Durable& base) {
  TransitionFacts facts;
  facts.is_root = node.parent == nullptr;
  facts.tree_past_no_return = facts.is_root ? base.past_no_return : node.root->durable.past_no_return;
  facts.tree_failing = node.root->tree.failing;
  facts.hold_locks = node.procedure->HoldLocks();
  facts.keeps_for_children = node.inherits_child_locks;
  facts.row = node.procedure->FindRow(base.step);
  facts.now_ms = held.now_ms();
  facts.history_bound = held.options().history_per_procedure;
  facts.order = facts.row->undo == UndoKind::kCall ? held.core().deps.store.NextSequence() : 0;
  return facts;
}

// Checks an outcome against the rules that only the framework knows; fills in the rows.
Status CheckOutcome(const ProcNode& node, const StepOutcome& outcome, TransitionFacts& facts) {
  if (std::holds_alternative<EndFailed>(outcome) && !(facts.is_root && facts.tree_past_no_return)) {
    return Error(Code::kInternal, "only a root after its point of no return may end with an error and no undo");
  }
  StepNo target = 0;
  if (const auto* next = std::get_if<Next>(&outcome)) target = next->state;
  if (const auto* spawn = std::get_if<Spawn>(&outcome)) target = spawn->resume_at;
  if (target == 0 && !std::holds_alternative<Next>(outcome) && !std::holds_alternative<Spawn>(outcome)) return Ok();
  facts.next_row = node.procedure->FindRow(target);
  if (facts.next_row == nullptr) {
    return Error(Code::kInternal, fmt::format("the step table has no state {}", target));
  }
  if (facts.next_row->undo == UndoKind::kPointOfNoReturn && !facts.tree_past_no_return && !facts.is_root) {
    return Error(Code::kInternal,
                 fmt::format("{} is a point of no return, but its tree can still be undone", facts.next_row->name));
  }
  return Ok();
}

// For Retry, Yield, AwaitAsync: nothing of the step is stored.
void GoOnWithoutCommit(ExecutorLock& held, ProcNode& node, const StepOutcome& outcome, Millis retry_delay) {
  ++node.unrecorded_runs;
  node.timed_out = false;
  if (const auto* retry = std::get_if<Retry>(&outcome)) {
    node.last_error = retry->why;
    ++node.attempt;
    LogRetry(held, node, retry_delay);
    Emit(held, ActivityKind::kRetry, node, retry->why.ToString());
  } else if (std::holds_alternative<Await>(outcome)) {
    return;  // work in progress continues
  }
  ForgetAsyncResults(node);
}

// The task holds the node's next state and the other records to store.
void CommitTransition(ExecutorLock& held, ProcNode& node, const StepRun& run, OutcomeKind outcome,
                      const TransitionEffects& outcome_effects, std::unique_ptr<CommitTask> task,
                      std::unique_ptr<RunOn>& on) {
  TransitionEffects effects = outcome_effects;
  if (on != nullptr) JoinVersion(task->next, node.durable);
  if (on != nullptr && on->passes_no_return) effects.passes_no_return = true;
  if (effects.drops_children) task->batch.deletes = DescendantsToDelete(node);
  if (RATCHET_MUTANT("procedure.release_before_commit") && effects.locks == LockAction::kRelease) {
    std::vector<ProcId> early;
    held->locks.Release(node.locks, early);
    ReadyGranted(held, early);
    held.Drain();  // the commits of what becomes free precede this one
  }
  std::vector<SystemPut> apart;
  if (RATCHET_MUTANT("procedure.system_record_apart")) apart = std::exchange(task->batch.system_puts, {});
  task->published = [effects, outcome, step = run.step()](ExecutorLock& inner, CommitTask& stored) {
    ProcNode& shown = ShowStored(inner, stored);
    if (shown.next_kind() == NextActionKind::kChildren) SetNextAction(shown, ToRun{});  // it ran before its child's end
    SetNextAction(shown, std::move(stored.next_action));
    Publish(inner, shown, step, outcome, effects, std::move(stored.nodes));
  };
  const CommitPoint point{run.step(), /*undo=*/false};
  if (auto next = RunOnAfter(held, node, effects, point, task, on)) {
    on = std::move(next);
    return;
  }
  BeginStore(node, *task, point);
  CommitJoined(held, std::move(on), std::move(task));
  if (apart.empty()) return;
  auto second = held.NewTask();
  second->batch.system_puts = std::move(apart);
  second->published = [](ExecutorLock&, CommitTask&) {};
  held.Commit(std::move(second));
}

// Called when the outcome is durable: shows it and continues.
void Publish(ExecutorLock& held, ProcNode& node, StepNo step, OutcomeKind outcome, const TransitionEffects& t,
             std::vector<std::unique_ptr<ProcNode>> children) {
  if (IsDurableKind(outcome)) Emit(held, ActivityKind::kStep, node, step, std::string(OutcomeName(outcome)));
  if (t.next_kind == NextActionKind::kEvent) Emit(held, ActivityKind::kSuspended, node, step);
  std::vector<ProcId> granted;
  if (t.passes_no_return) {
    held->locks.Retain(node.locks, node.durable.locks, granted);
    SetInheritsChildLocks(held, node, false);
  }
  if (t.locks == LockAction::kRelease) {
    held->locks.Release(node.locks, granted);
    node.lock_state = LockState::kNone;
    SetInheritsChildLocks(held, node, false);
  } else if (t.locks == LockAction::kHandOver) {
    held->locks.HandOver(node.locks, node.parent->locks, granted);
    if (node.parent->locks.holds_any()) SetInheritsChildLocks(held, *node.parent, true);
  }
  if (t.drops_children) RemoveDescendants(held, node);
  if (t.next_kind == NextActionKind::kRun || t.next_kind == NextActionKind::kChildren ||
      t.next_kind == NextActionKind::kFinished)
    ResetStep(node);
  std::vector<ProcNode*> added;
  for (auto& child : children) added.push_back(&Adopt(held, std::move(child)));
  if (!added.empty()) LogSpawned(held, node, added);
  for (ProcNode* child : added) held.Ready(*child);
  if (t.failed) BeginRollback(held, *node.root, *node.durable.error);
  if (!node.durable.parked.empty()) {
    LogParked(held, node);
    Emit(held, ActivityKind::kParked, node, node.durable.parked);
  }
  if (t.next_kind == NextActionKind::kFinished) Finish(held, node);
  held.Ready(node);
  ReadyGranted(held, granted);
  if (t.locks == LockAction::kHandOver) CheckRingsBelow(held, *node.parent);
}

// kAwait here is only the durable one: AwaitAsync commits nothing.
bool IsDurableKind(OutcomeKind outcome) { return outcome != OutcomeKind::kRetry && outcome != OutcomeKind::kYield; }

}  // namespace

}  // namespace ratchet::procedure
