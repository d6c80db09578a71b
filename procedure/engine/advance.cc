#include "procedure/engine/advance.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/report_handler.h"
#include "procedure/engine/rollback.h"
#include "procedure/engine/submit.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

namespace {

// Returns a path from `start` back to itself, without the repetition; empty when there is none. Depth first, explicit
// stack.
std::vector<ProcNode*> CycleThrough(const HeldState& held, ProcNode& start) {
  struct Frame {
    ProcNode* node;
    std::vector<ProcId> targets;
    std::size_t next = 0;
  };
  std::vector<Frame> path{{&start, WaitsFor(held, start)}};
  std::unordered_set<ProcId> seen{start.id.pid};
  while (!path.empty()) {
    Frame& top = path.back();
    if (top.next == top.targets.size()) {
      path.pop_back();
      continue;
    }
    const ProcId target = top.targets[top.next++];
    if (target == start.id.pid) {
      std::vector<ProcNode*> cycle;
      for (const Frame& frame : path) cycle.push_back(frame.node);
      return cycle;
    }
    ProcNode* node = held->tree.Find(target);
    if (node == nullptr || !seen.insert(target).second) continue;
    if (node->root->tree.failing || node->root->abort) continue;  // is already being undone
    path.push_back({node, WaitsFor(held, *node)});
  }
  return {};
}

bool AnyInheritsChildLocks(ProcNode& root) {
  for (const ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->inherits_child_locks) return true;
  }
  return false;
}

}  // namespace

void BreakDeadlock(ExecutorLock& held, ProcNode& node) {
  // Several cycles may pass through it: each victim breaks one.
  while (held->lock_inheritors > 0 && node.phase == Phase::kLockLine && !node.root->tree.failing && !node.root->abort) {
    const std::vector<ProcNode*> cycle = CycleThrough(held, node);
    if (cycle.empty()) return;
    ProcNode* victim = nullptr;
    std::string names;
    for (ProcNode* member : cycle) {
      names += fmt::format("{}pid={}", names.empty() ? "" : " -> ", member->id.pid);
      ProcNode* root = member->root;
      if (root->durable.past_no_return || root->tree.failing || root->abort) continue;
      if (victim != nullptr && victim->id.pid >= root->id.pid) continue;
      if (AnyInheritsChildLocks(*root)) victim = root;
    }
    RATCHET_LOG(
        kWarn, "procedures wait for each other: {}; {}", names,
        victim == nullptr ? "no tree can be undone" : fmt::format("the tree of pid={} is undone", victim->id.pid));
    if (victim == nullptr) return;
    victim->abort = AbortRequest{"the lock manager", "deadlock: " + names, {}, false};
    if (IsBusy(victim->phase)) continue;  // the abort is found when the victim is free
    LeaveEverything(held, *victim);
    held.Ready(*victim);
  }
}

void BreakMovedDeadlocks(ExecutorLock& held) {
  for (const ProcId pid : std::exchange(held->moved_waiters, {})) {
    ProcNode* node = held->lock_inheritors == 0 ? nullptr : held->tree.Find(pid);
    if (node != nullptr) BreakDeadlock(held, *node);
  }
}

void CheckRingsBelow(ExecutorLock& held, ProcNode& node) {
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member->phase == Phase::kLockLine) held->moved_waiters.push_back(member->id.pid);
  }
}

namespace {

void Park(ExecutorLock& held, ProcNode& node);
void Run(ExecutorLock& held, ProcNode& node, bool front);
bool EnsureLocks(ExecutorLock& held, ProcNode& node);
bool NeedsToPassNoReturn(const ProcNode& node);
void PassAndGoOn(ExecutorLock& held, ProcNode& node);

// The node is free: starts whichever applies first: its end, a verb, its tree's rollback, a report, an abort, or its
// own next action.
void Advance(ExecutorLock& held, ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} advances while busy", node.id.pid);
  if (held->halted || held->stopping) return;
  node.held = false;  // computed again below
  ProcNode& root = *node.root;
  if (node.next_kind() == NextActionKind::kFinished) {
    ProcedureTree::SetPhase(node, Phase::kFinished);
    DisarmDeadline(held, node);
    RefuseReports(held, node, "has finished");
    RefuseVerbs(held, node);
    AnswerAbort(held, node, Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", node.id.pid)));
    if (root.tree.failing) held.ReadyUndo(root);
    return;
  }
  if (!node.verbs.empty() && !root.tree.concluding && ApplyVerb(held, node)) return;
  if (root.tree.failing) {
    AnswerAbort(held, node, Ok());
    RefuseReports(held, node, "is being undone");
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    held.ReadyUndo(root);
    return;
  }
  if (!node.reports.empty()) {
    StartFold(held, node);
    return;
  }
  if (node.abort && ApplyAbort(held, node)) return;
  if (EndIfBypassed(held, node)) return;
  if (node.procedure == nullptr || !node.durable.parked.empty()) Park(held, node);
  switch (node.next_kind()) {
    case NextActionKind::kRun: Run(held, node, /*front=*/true); return;
    case NextActionKind::kRunAgain:
      SetNextAction(node, ToRun{});
      Run(held, node, /*front=*/false);
      return;
    case NextActionKind::kChildren:
      if (node.unfinished_children == 0) {
        SetNextAction(node, ToRun{});
        ResumeAfterChildren(node.durable);
        Run(held, node, /*front=*/true);
        return;
      }
      break;
    case NextActionKind::kEvent:
    case NextActionKind::kAsync:
    case NextActionKind::kRetry:
      if (!BeginWait(held, node)) {
        SetNextAction(node, ToRun{});
        Run(held, node, /*front=*/true);
        return;
      }
      break;
    case NextActionKind::kOperator:
    case NextActionKind::kUndo:
    case NextActionKind::kFinished: break;
  }
  ProcedureTree::SetPhase(node, Phase::kWaiting);
}

// A wake-up of what it waited for no longer wakes it.
void Park(ExecutorLock& held, ProcNode& node) {
  LeaveWait(held, node);
  SetNextAction(node, ForOperator{});
}

void Run(ExecutorLock& held, ProcNode& node, bool front) {
  if (HoldIfPaused(held, node)) return;
  if (NeedsToPassNoReturn(node)) {
    PassAndGoOn(held, node);
  } else if (EnsureLocks(held, node)) {
    Enqueue(held, node, front);
  } else {
    BreakDeadlock(held, node);
  }
}

// True when the step may run now; otherwise the node waits for a lock or a commit is in progress.
bool EnsureLocks(ExecutorLock& held, ProcNode& node) {
  if (node.lock_state == LockState::kRecorded) return true;
  if (node.lock_state == LockState::kWaiting) {
    ProcedureTree::SetPhase(node, Phase::kLockLine);
    return false;
  }
  std::vector<LockRequest> wanted = TakeWanted(node);
  if (node.lock_state == LockState::kNone && !wanted.empty()) {
    const bool granted = held->locks.Request(node.locks, wanted);
    node.lock_state = granted ? LockState::kGranted : LockState::kWaiting;
    if (!granted) {
      ProcedureTree::SetPhase(node, Phase::kLockLine);
      return false;
    }
  }
  if (node.lock_state == LockState::kNone || wanted == node.durable.locks ||
      RATCHET_MUTANT("procedure.grant_not_durable")) {
    node.lock_state = LockState::kRecorded;
    return true;
  }
  Durable next = RecordGrant(node.durable, std::move(wanted));
  StoreThen(held, node, std::move(next), {}, {}, [](ExecutorLock& inner, ProcNode& stored) {
    stored.lock_state = LockState::kRecorded;
    inner.Ready(stored);
  });
  return false;
}

// The root resumes after its children, or starts, with the tree's point of no return: that is recorded before the state
// runs.
bool NeedsToPassNoReturn(const ProcNode& node) {
  if (node.parent != nullptr || node.durable.past_no_return || node.procedure == nullptr) return false;
  const StepRow* row = node.procedure->FindRow(node.durable.step);
  return row != nullptr && row->undo == UndoKind::kPointOfNoReturn;
}

void PassAndGoOn(ExecutorLock& held, ProcNode& node) {
  Durable next = PassNoReturn(node.durable, held.now_ms());
  StoreThen(held, node, std::move(next), {}, {}, [](ExecutorLock& inner, ProcNode& root) {
    std::vector<ProcId> granted;
    inner->locks.Retain(root.locks, root.durable.locks, granted);
    SetInheritsChildLocks(inner, root, false);
    inner.Ready(root);
    ReadyGranted(inner, granted);
  });
}

}  // namespace

void DrainReady(ExecutorLock& held) {
  while (true) {
    if (ProcNode* node = held.PopReady()) {
      Advance(held, *node);
    } else if (!held->moved_waiters.empty()) {
      BreakMovedDeadlocks(held);
    } else if (ProcNode* root = held.PopReadyUndo()) {
      if (root->tree.failing) ContinueRollback(held, *root);  // otherwise its end was published in the same group
    } else {
      return;
    }
  }
}

}  // namespace ratchet::procedure
