#include "procedure/engine/run_on.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/check.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

// Most outcomes of one commit.
constexpr std::size_t kMostJoined = 16;

bool HasItsLocks(const ProcNode& node) {
  return node.lock_state == LockState::kRecorded ||
         (node.lock_state == LockState::kNone && node.procedure->Locks().Expanded().empty());
}

// True if the step of `base`, from which `node` continues, may run before `base` is durable, and nothing else comes
// first: a verb, a report, an abort, a pause, a rollback, a lock or the point of no return.
bool MayRunOn(const HeldState& held, const ProcNode& node, const Durable& base, const RunOn* before, bool after_undo) {
  if (!held->started || held->stopping || held->halted || node.procedure == nullptr) return false;
  if (before != nullptr && before->done.size() + 1 >= kMostJoined) return false;
  const StepRow* row = node.procedure->FindRow(base.step);
  if (row == nullptr || row->commits != CommitPolicy::kRunsOn) return false;
  // Two steps with an undo would have the same place in the order of execution, which is that of their commit.
  if (row->undo == UndoKind::kCall && (after_undo || (before != nullptr && before->has_undo))) return false;
  if (node.root->tree.failing || node.abort || !node.verbs.empty() || !node.reports.empty()) return false;
  if (base.bypassed || !base.parked.empty() || node.missing_children || node.orphaned) return false;
  return HasItsLocks(node) && PausedBy(held, node) == nullptr;
}

// The parent of a child that has just succeeded, if that was its last one and it does nothing else.
ProcNode* ParentToResume(const ProcNode& child, const TransitionEffects& effects) {
  ProcNode* parent = child.parent;
  if (parent == nullptr || effects.next_kind != NextActionKind::kFinished || effects.locks == LockAction::kHandOver)
    return nullptr;
  const bool waits = parent->unfinished_children == 1 && parent->next_kind() == NextActionKind::kChildren &&
                     parent->phase == Phase::kWaiting && parent->durable.state == ProcState::kWaiting;
  return waits ? parent : nullptr;
}

std::unique_ptr<RunOn> Continue(std::unique_ptr<RunOn> before, ProcNode& node, Durable base,
                                std::unique_ptr<CommitTask> task, bool after_undo) {
  auto on = before != nullptr ? std::move(before) : std::make_unique<RunOn>();
  on->node = &node;
  on->base = std::move(base);
  on->passes_no_return = on->same_step = false;
  on->has_undo = on->has_undo || after_undo;
  on->done.push_back(std::move(task));
  return on;
}

}  // namespace

std::unique_ptr<RunOn> RunOnAfter(ExecutorLock& held, ProcNode& node, const TransitionEffects& effects,
                                  CommitPoint point, std::unique_ptr<CommitTask>& task,
                                  std::unique_ptr<RunOn>& before) {
  const bool apart = !task->batch.system_puts.empty() || !task->batch.system_deletes.empty() || effects.failed;
  if (apart || node.root->tree.failing) return nullptr;
  const StepRow* row = node.procedure->FindRow(point.step);
  const bool after_undo = row != nullptr && row->undo == UndoKind::kCall;
  if (effects.next_kind == NextActionKind::kRun) {
    if (!MayRunOn(held, node, task->next, before.get(), after_undo)) return nullptr;
    JoinStore(node, *task, point);
    Durable base = task->next;
    return Continue(std::move(before), node, std::move(base), std::move(task), after_undo);
  }
  ProcNode* const parent = ParentToResume(node, effects);
  if (parent == nullptr) return nullptr;
  Durable base = parent->durable;
  ResumeAfterChildren(base);
  const StepRow* next = parent->procedure == nullptr ? nullptr : parent->procedure->FindRow(base.step);
  const bool passes =
      next != nullptr && next->undo == UndoKind::kPointOfNoReturn && parent->parent == nullptr && !base.past_no_return;
  if (next != nullptr && next->undo == UndoKind::kCall) return nullptr;  // undone only if it has begun: see GoBack
  if (passes) base = PassNoReturn(base, held.now_ms());
  if (!MayRunOn(held, *parent, base, before.get(), after_undo)) return nullptr;
  BeginStore(node, *task, point);
  ProcedureTree::SetPhase(*parent, Phase::kFree);
  auto on = Continue(std::move(before), *parent, std::move(base), std::move(task), after_undo);
  on->passes_no_return = passes;
  return on;
}

bool RunOnAfterReport(ExecutorLock& held, ProcNode& node, std::unique_ptr<CommitTask>& task) {
  if (!MayRunOn(held, node, task->next, nullptr, /*after_undo=*/false)) return false;
  switch (node.next_kind()) {
    case NextActionKind::kRun:
    case NextActionKind::kEvent:
    case NextActionKind::kAsync:
    case NextActionKind::kRetry: break;
    default: return false;
  }
  CutWaitShort(held, node);
  JoinStore(node, *task, {});
  Durable base = task->next;
  auto on = Continue(nullptr, node, std::move(base), std::move(task), /*after_undo=*/false);
  on->same_step = true;
  ProcedureTree::SetPhase(node, Phase::kRunning);
  node.work = NodeWork::kStep;
  held->run_on.push_back(std::move(on));
  held.NotifyWorkers(node.sched.urgent);
  return true;
}

void BeginRunOn(ExecutorLock& held, RunOn& on) {
  ProcNode& node = *on.node;
  node.lock_state = LockState::kRecorded;
  EnterSlot(held->running, node);
  if (node.phase != Phase::kRunning) ProcedureTree::SetPhase(node, Phase::kRunning);
  node.work = NodeWork::kStep;
  node.begun = true;
  node.run_began = held.core().deps.clock.Now();
  node.step_began = node.run_began;
}

std::unique_ptr<RunOn> TakeRunOn(ExecutorLock& held, bool urgent_only) {
  auto& line = held->run_on;
  while (true) {
    const auto urgent = std::find_if(line.begin(), line.end(), [](const auto& on) { return on->node->sched.urgent; });
    const auto found = urgent != line.end() || urgent_only ? urgent : line.begin();
    if (found == line.end()) return nullptr;
    std::unique_ptr<RunOn> on = std::move(*found);
    line.erase(found);
    if (!on->node->root->tree.failing && PausedBy(held, *on->node) == nullptr) return on;
    GoBack(held, std::move(on));
  }
}

bool IsJoined(const Result<StepOutcome>& outcome) {
  return outcome.ok() && (std::holds_alternative<Next>(*outcome) || std::holds_alternative<Spawn>(*outcome) ||
                          std::holds_alternative<Done>(*outcome));
}

void CommitJoined(ExecutorLock& held, std::unique_ptr<RunOn> before, std::unique_ptr<CommitTask> task) {
  if (before != nullptr) task->before = std::move(before->done);
  held.Commit(std::move(task));
}

void GoBack(ExecutorLock& held, std::unique_ptr<RunOn> on) {
  ProcNode& node = *on->node;
  if (node.procedure->SerializeData() != on->base.data) {
    RATCHET_CHECK(node.procedure->ParseData(on->base.data), "pid {} cannot read its own data", node.id.pid);
  }
  node.work = NodeWork::kIdle;
  if (node.phase == Phase::kRunning) {  // it has not begun
    ProcedureTree::SetPhase(node, Phase::kFree);
    if (!held->pauses.barriers.empty()) PauseStepEnded(held, node);
  }
  std::unique_ptr<CommitTask> last = std::move(on->done.back());
  on->done.pop_back();
  if (last->node == &node) {
    // The step has changed memory, so its undo is needed if the tree fails before the step runs again.
    last->published = [show = std::move(last->published)](ExecutorLock& inner, CommitTask& stored) mutable {
      show(inner, stored);
      stored.node->begun = true;
    };
    const CommitPoint point = last->point;
    BeginStore(node, *last, point);
  } else {
    node.begun = false;
    held.Ready(node);  // it waits for its child again
  }
  CommitJoined(held, std::move(on), std::move(last));
}

void CommitWaiting(ExecutorLock& held) {
  while (!held->run_on.empty()) {
    std::unique_ptr<RunOn> on = std::move(held->run_on.front());
    held->run_on.pop_front();
    GoBack(held, std::move(on));
  }
}

}  // namespace ratchet::procedure
