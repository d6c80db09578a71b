#include "procedure/engine/step_runner.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/engine/children.h"
#include "procedure/engine/deadlock.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/rollback.h"
#include "procedure/engine/step_run.h"
#include "procedure/session/node_commit.h"
#include "procedure/session/places.h"
#include "procedure/views/activity.h"
#include "procedure/views/log_lines.h"

namespace ratchet::procedure {
namespace {

// What a run without the lock has left behind.
struct Ran {
  Status undone;                               // of an undo
  std::optional<Result<StepOutcome>> outcome;  // of a step
  std::string data;
};

// In the order of a step's outcome.
void Take(Session& session, const WorkerInfo& worker, std::optional<StepRun>& run);
Ran RunTaken(StepRun& run);
std::string DataAfter(ProcNode& node, bool durable);
bool IsDurableOutcome(const Result<StepOutcome>& outcome);
void ConcludeStep(Session& session, ProcNode& node, StepRun& run, Result<StepOutcome> outcome, std::string data);
void EndAtBudget(Session& session, const ProcNode& node, StepOutcome& outcome);
TransitionFacts FactsOf(Session& session, const ProcNode& node);
Status CheckOutcome(const ProcNode& node, const StepOutcome& outcome, TransitionFacts& facts);
const Error* ErrorIn(const StepOutcome& outcome);
[[nodiscard]] Intent WaitAfter(Want want, const StepOutcome& outcome, const StepRun& run, Millis retry_delay);
void GoOnWithoutCommit(Session& session, ProcNode& node, const StepOutcome& outcome, Millis retry_delay);
void CommitTransition(Session& session, ProcNode& node, const StepRun& run, OutcomeKind outcome,
                      const TransitionEffects& effects, std::unique_ptr<CommitTask> task);
void Publish(Session& session, ProcNode& node, StepNo step, OutcomeKind outcome, const TransitionEffects& t,
             std::vector<std::unique_ptr<ProcNode>> children);
bool IsDurableKind(OutcomeKind outcome);

}  // namespace

std::size_t StepRunner::Run(const WorkerInfo& worker, std::size_t at_most) {
  std::optional<StepRun> run;
  {
    Session session(core_);
    Take(session, worker, run);
  }
  std::size_t done = 0;
  while (run) {
    Ran ran = RunTaken(*run);
    Session session(core_);  // one for the end of this and the beginning of the next
    if (ran.outcome) {
      ConcludeStep(session, run->node(), *run, *std::move(ran.outcome), std::move(ran.data));
    } else {
      ConcludeUndo(session, run->node(), *run, ran.undone, std::move(ran.data));
    }
    run.reset();
    if (++done == at_most) break;
    session.Drain();  // what this outcome sets free may be the next
    Take(session, worker, run);
  }
  return done;
}

namespace {

// Begins the next procedure's step or undo; leaves `run` empty when there is none for this worker.
void Take(Session& session, const WorkerInfo& worker, std::optional<StepRun>& run) {
  if (!session->started || session->stopping || session->halted) return;
  SchedItem* item = session->scheduler.Poll(worker.urgent_only);
  if (item == nullptr) return;
  ProcNode& node = *static_cast<ProcNode*>(item->owner);
  ProcedureTree::SetPhase(node, Phase::kRunning);
  node.running_slot = session->running.size();
  session->running.push_back(&node);
  // Each worker that wakes wakes the next, as far as there is work.
  if (session->scheduler.has_ready()) session.NotifyWorkers(/*urgent=*/session->scheduler.urgent() > 0);
  node.in_step = true;
  if (!node.undoing && !node.begun && node.durable.history.empty()) LogStart(session, node);
  node.begun = true;
  node.run_began = session.core().deps.clock.Now();
  run.emplace(session, node);
  run->SetWorker(worker.number);
}

Ran RunTaken(StepRun& run) {
  Ran ran;
  if (run.undoing()) {
    ran.undone = run.RunUndo();
    ran.data = DataAfter(run.node(), ran.undone.ok());
  } else {
    ran.outcome = run.RunStep();
    ran.data = DataAfter(run.node(), IsDurableOutcome(*ran.outcome));
  }
  return ran;
}

// Every run starts from durable data: what a run that is not durable has changed is put back.
std::string DataAfter(ProcNode& node, bool durable) {
  std::string data = node.procedure->SerializeData();
  if (durable || data == node.durable.data) return data;
  RATCHET_CHECK(node.procedure->ParseData(node.durable.data), "pid {} cannot read its own data", node.id.pid);
  return node.durable.data;
}

bool IsDurableOutcome(const Result<StepOutcome>& outcome) {
  if (!outcome.ok()) return false;
  if (const auto* await = std::get_if<Await>(&*outcome)) return !await->in_memory;
  return !std::holds_alternative<Retry>(*outcome) && !std::holds_alternative<Yield>(*outcome);
}

void ConcludeStep(Session& session, ProcNode& node, StepRun& run, Result<StepOutcome> outcome, std::string data) {
  std::optional<WaitTicket> spent;
  if (outcome.ok()) EndAtBudget(session, node, *outcome);
  const Await* await = outcome.ok() ? std::get_if<Await>(&*outcome) : nullptr;
  if (await != nullptr) spent = await->ticket;
  if (const auto* retry = outcome.ok() ? std::get_if<Retry>(&*outcome) : nullptr; retry != nullptr)
    spent = retry->sooner;
  EndRun(session, node, run, spent);
  TransitionFacts facts = FactsOf(session, node);
  auto task = session.NewTask();
  task->next = node.durable;
  Status sound = outcome.ok() ? CheckOutcome(node, *outcome, facts) : Status(outcome.error());
  if (auto* spawn = outcome.ok() && sound.ok() ? std::get_if<Spawn>(&*outcome) : nullptr;
      spawn != nullptr && !spawn->children.empty() && !facts.tree_failing) {
    auto made = MakeChildren(session, node, *facts.row, std::move(spawn->children));
    if (made.ok()) {
      task->nodes = std::move(*made);
      spawn->children.resize(task->nodes.size());  // moved away; the heart only asks whether there are any
      facts.keeps_for_children = facts.keeps_for_children || AnyHasUndo(session, task->nodes);
    } else {
      sound = made.error();
    }
  }
  if (!sound.ok()) {
    const TransitionEffects t =
        ApplyExceptionTo(task->next, facts, sound.error(), run.HistoryEntry(OutcomeKind::kException, &sound.error()));
    task->intent = IntentOf(t.want);
    CommitTransition(session, node, run, OutcomeKind::kException, t, std::move(task));
    return;
  }
  const TransitionEffects t = ApplyOutcomeTo(task->next, facts, *outcome, std::move(data),
                                             run.HistoryEntry(KindOf(*outcome), ErrorIn(*outcome)));
  const auto* retry = std::get_if<Retry>(&*outcome);
  Millis retry_delay{0};
  if (retry != nullptr) {
    retry_delay = retry->delay ? *retry->delay : BackoffDelay(session.options().retry, node.attempt, session->prng);
  }
  if (t.want != Want::kRun) task->intent = WaitAfter(t.want, *outcome, run, retry_delay);
  const bool durable_outcome = t.want != Want::kOnce && t.want != Want::kRetry && t.want != Want::kRunAgain;
  if (durable_outcome) {
    node.timed_out = false;
    node.unrecorded_runs = 0;
    if (t.locks == LockAction::kKeep) TryGrantAll(session, task->nodes);
    task->batch = std::move(run.staged());
    CommitTransition(session, node, run, KindOf(*outcome), t, std::move(task));
    return;
  }
  GoOnWithoutCommit(session, node, *outcome, retry_delay);
  if (t.commit) {
    CommitTransition(session, node, run, KindOf(*outcome), t, std::move(task));  // the release of its locks
  } else {
    SetIntent(node, std::move(task->intent));
    session.Recycle(std::move(task));
    session.Ready(node);
  }
}

// For the history.
const Error* ErrorIn(const StepOutcome& outcome) {
  if (const auto* fail = std::get_if<Fail>(&outcome)) return &fail->why;
  if (const auto* failed = std::get_if<EndFailed>(&outcome)) return &failed->why;
  return nullptr;
}

// What the node wants next, with the ticket and the limit of a wait.
Intent WaitAfter(Want want, const StepOutcome& outcome, const StepRun& run, Millis retry_delay) {
  Intent intent = IntentOf(want);
  Wait* wait = WaitIn(intent);
  if (const auto* retry = std::get_if<Retry>(&outcome); wait != nullptr && retry != nullptr) {
    wait->ticket = retry->sooner;
    wait->limit = retry_delay;
  } else if (const auto* await = std::get_if<Await>(&outcome); wait != nullptr && await != nullptr) {
    wait->ticket = await->ticket;
    wait->limit = await->timeout;
  }
  if (auto* once = std::get_if<ForOnce>(&intent)) once->arrivals = run.once_arrivals();
  return intent;
}

// The budget of a state that asks to be run again is spent: it fails, and behind the point of no return is parked.
void EndAtBudget(Session& session, const ProcNode& node, StepOutcome& outcome) {
  const auto* retry = std::get_if<Retry>(&outcome);
  if (retry == nullptr) return;
  const std::uint32_t budget = retry->max_attempts != 0 ? retry->max_attempts : session.options().retry_attempts;
  if (budget == 0 || node.attempt < budget) return;
  Fail fail{retry->why.Annotate(fmt::format("gave up after {} attempts", node.attempt))};
  outcome = std::move(fail);
}

TransitionFacts FactsOf(Session& session, const ProcNode& node) {
  TransitionFacts facts;
  facts.is_root = node.parent == nullptr;
  facts.tree_past_no_return = node.root->durable.past_no_return;
  facts.tree_failing = node.root->tree.failing;
  facts.hold_locks = node.procedure->HoldLocks();
  facts.keeps_for_children = node.kept_for_children;
  facts.row = node.procedure->FindRow(node.durable.step);
  facts.now_ms = session.now_ms();
  facts.history_bound = session.options().history_per_procedure;
  facts.order = facts.row->undo == UndoKind::kCall ? session.core().deps.store.TakeSequence() : 0;
  return facts;
}

// What is wrong with an outcome that only the framework's rules can tell; fills in the rows.
Status CheckOutcome(const ProcNode& node, const StepOutcome& outcome, TransitionFacts& facts) {
  if (std::holds_alternative<EndFailed>(outcome) && !(facts.is_root && facts.tree_past_no_return)) {
    return Error(Code::kInternal, "only a root behind its point of no return may end with an error and no undo");
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

// Retry, Yield, AwaitOnce: nothing of the step is stored.
void GoOnWithoutCommit(Session& session, ProcNode& node, const StepOutcome& outcome, Millis retry_delay) {
  ++node.unrecorded_runs;
  node.timed_out = false;
  if (const auto* retry = std::get_if<Retry>(&outcome)) {
    node.last_error = retry->why;
    ++node.attempt;
    LogRetry(session, node, retry_delay);
    Emit(session, ActivityKind::kRetry, node, retry->why.ToString());
  } else if (std::holds_alternative<Await>(outcome)) {
    return;  // what is under way stays
  }
  if (node.once != nullptr) {
    node.once->Forget();
    node.once.reset();
  }
}

// The task holds the node's next state and what else is to be stored.
void CommitTransition(Session& session, ProcNode& node, const StepRun& run, OutcomeKind outcome,
                      const TransitionEffects& effects, std::unique_ptr<CommitTask> task) {
  if (effects.drops_children) task->batch.deletes = DescendantsToDelete(node);
  if (RATCHET_MUTANT("procedure.release_before_commit") && effects.locks == LockAction::kRelease) {
    std::vector<ProcId> early;
    session->locks.Release(node.locks, early);
    ReadyGranted(session, early);
    session.Drain();  // their commits come before this one
  }
  std::vector<SystemPut> apart;
  if (RATCHET_MUTANT("procedure.system_record_apart")) apart = std::exchange(task->batch.system_puts, {});
  BeginStore(node, *task, {run.step(), /*undo=*/false});
  task->published = [effects, outcome, step = run.step()](Session& inner, CommitTask& stored) {
    ProcNode& shown = ShowStored(inner, stored);
    SetIntent(shown, std::move(stored.intent));
    Publish(inner, shown, step, outcome, effects, std::move(stored.nodes));
  };
  session.Commit(std::move(task));
  if (apart.empty()) return;
  auto second = session.NewTask();
  second->batch.system_puts = std::move(apart);
  second->published = [](Session&, CommitTask&) {};
  session.Commit(std::move(second));
}

// The durable outcome is on record: shows it and goes on.
void Publish(Session& session, ProcNode& node, StepNo step, OutcomeKind outcome, const TransitionEffects& t,
             std::vector<std::unique_ptr<ProcNode>> children) {
  if (IsDurableKind(outcome)) Emit(session, ActivityKind::kStep, node, step, std::string(OutcomeName(outcome)));
  if (t.want == Want::kEvent) Emit(session, ActivityKind::kSuspended, node, step);
  std::vector<ProcId> granted;
  if (t.passes_no_return) {
    session->locks.Retain(node.locks, node.durable.locks, granted);
    SetKeeps(session, node, false);
  }
  if (t.locks == LockAction::kRelease) {
    session->locks.Release(node.locks, granted);
    node.has_grant = false;
    SetKeeps(session, node, false);
  } else if (t.locks == LockAction::kHandOver) {
    session->locks.HandOver(node.locks, node.parent->locks, granted);
    if (node.parent->locks.holds_any()) SetKeeps(session, *node.parent, true);
  }
  if (t.drops_children) RemoveDescendants(session, node);
  if (t.want == Want::kRun || t.want == Want::kChildren || t.want == Want::kFinished) ResetStep(node);
  std::vector<ProcId> pids;
  std::vector<ProcNode*> added;
  for (auto& child : children) {
    pids.push_back(child->id.pid);
    added.push_back(&AdoptChild(session, std::move(child)));
  }
  if (!pids.empty()) LogSpawned(session, node, pids);
  for (ProcNode* child : added) session.Ready(*child);
  if (t.failed) BeginRollback(session, *node.root, *node.durable.error);
  if (!node.durable.parked.empty()) {
    LogParked(session, node);
    Emit(session, ActivityKind::kParked, node, node.durable.parked);
  }
  if (t.want == Want::kFinished) Finish(session, node);
  session.Ready(node);
  ReadyGranted(session, granted);
  if (t.locks == LockAction::kHandOver) CheckRingsBelow(session, *node.parent);
}

// kAwait here is only the durable one: AwaitOnce commits nothing.
bool IsDurableKind(OutcomeKind outcome) { return outcome != OutcomeKind::kRetry && outcome != OutcomeKind::kYield; }

}  // namespace

}  // namespace ratchet::procedure
