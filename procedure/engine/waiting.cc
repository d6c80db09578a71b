#include "procedure/engine/waiting.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "procedure/api/scheduling_class.h"
#include "procedure/core/author_object.h"

namespace ratchet::procedure {

namespace {

// The timer of a wait has run, unless it was cancelled too late.
void TimeOut(ExecutorLock& held, ProcId pid, std::uint64_t serial) {
  if (held->stopping || held->halted) return;
  ProcNode* found = held->tree.Find(pid);
  if (found == nullptr || found->timer_serial != serial || !IsWaiting(*found)) return;
  WaitIn(found->next_action)->timer = 0;
  EndWait(held, *found,
          /*timed_out=*/found->next_kind() == NextActionKind::kEvent || found->next_kind() == NextActionKind::kAsync);
}

void StartTimer(ExecutorLock& held, ProcNode& node, Wait& wait) {
  Core& core = held.core();
  const std::uint64_t serial = ++node.timer_serial;
  wait.due = core.deps.clock.Now() + *wait.limit;
  wait.timer = core.deps.timers.After(*wait.limit, [weak = core.weak_from_this(), pid = node.id.pid, serial] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    TimeOut(inner, pid, serial);
    inner.Finish();
  });
}

// Leaves the wait table and cancels the timer.
void Stop(ExecutorLock& held, ProcNode& node, Wait& wait) {
  held->waits.Leave(node.id.pid);
  if (wait.timer != 0) held.core().deps.timers.Cancel(std::exchange(wait.timer, 0));
  ++node.timer_serial;
}

}  // namespace

bool IsWaiting(const ProcNode& node) {
  const Wait* wait = WaitIn(node.next_action);
  return wait != nullptr && wait->stage == Wait::Stage::kUnderWay;
}

bool BeginWait(ExecutorLock& held, ProcNode& node) {
  Wait& wait = *WaitIn(node.next_action);
  if (wait.stage == Wait::Stage::kOver) return false;
  if (wait.stage == Wait::Stage::kUnderWay) return true;  // it was only interrupted by a report
  if (const auto* async = std::get_if<ForAsync>(&node.next_action);
      async != nullptr && node.async_results != nullptr && node.async_results->arrivals() != async->arrivals) {
    return false;
  }
  if (wait.ticket) {
    const WaitTicket ticket = *std::exchange(wait.ticket, std::nullopt);
    if (!held->waits.Wait(node.id.pid, ticket)) return false;
  }
  wait.stage = Wait::Stage::kUnderWay;
  if (wait.limit) StartTimer(held, node, wait);
  return true;
}

void WaitForBackoff(ExecutorLock& held, ProcNode& node, Millis delay) {
  ProcedureTree::SetPhase(node, Phase::kWaiting);
  Wait wait;
  wait.limit = delay;
  wait.stage = Wait::Stage::kUnderWay;
  if (auto* undo = std::get_if<ForUndo>(&node.next_action)) {
    StartTimer(held, node, undo->backoff.emplace(wait));
  } else {
    StartTimer(held, node, std::get<Ended>(node.next_action).backoff.emplace(wait));
  }
}

bool EndWait(ExecutorLock& held, ProcNode& node, bool timed_out) {
  if (!IsWaiting(node)) return false;
  Wait& wait = *WaitIn(node.next_action);
  Stop(held, node, wait);
  wait.stage = Wait::Stage::kOver;
  node.timed_out = timed_out;
  if (IsBusy(node.phase)) return true;  // a report is being folded, or a verb stored; BeginWait notices the end
  ProcedureTree::SetPhase(node, Phase::kFree);
  if (node.work == NodeWork::kUndo) {
    node.work = NodeWork::kIdle;
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    held.ReadyUndo(*node.root);
    return true;
  }
  SetNextAction(node, ToRun{});
  held.Ready(node);
  return true;
}

void WakeOnce(Core& core, ProcId pid) {
  ExecutorLock held(core);
  ProcNode* node = held->stopping || held->halted ? nullptr : held->tree.Find(pid);
  if (node != nullptr && node->stays) {
    ResumeRun(held, *node);
  } else if (node != nullptr && node->next_kind() == NextActionKind::kAsync && IsWaiting(*node)) {
    // A node that runs or is about to wait compares the arrivals when the wait begins.
    EndWait(held, *node, /*timed_out=*/false);
  }
  held.Finish();
}

void ResumeRun(ExecutorLock& held, ProcNode& node) {
  node.stays = false;
  LeaveSlot(held->staying, node);
  (node.sched.urgent ? held->resumed_urgent : held->resumed).push_back(&node);
  held.NotifyWorkers(node.sched.urgent);
}

void CutWaitShort(ExecutorLock& held, ProcNode& node) {
  if (node.next_kind() != NextActionKind::kEvent && node.next_kind() != NextActionKind::kAsync &&
      node.next_kind() != NextActionKind::kRetry)
    return;
  LeaveWait(held, node);
  node.timed_out = false;  // the event that ends the wait came before the time-out
  SetNextAction(node, ToRun{});
}

void LeaveWait(ExecutorLock& held, ProcNode& node) {
  Wait* wait = WaitIn(node.next_action);
  if (wait == nullptr) return;
  if (wait->stage == Wait::Stage::kUnderWay) Stop(held, node, *wait);
  wait->stage = Wait::Stage::kToBegin;
  if (wait->ticket) held->waits.Drop(*std::exchange(wait->ticket, std::nullopt));
}

void BindToScheduler(ExecutorLock& held, ProcNode& node, const FoundLocks* found) {
  if (node.procedure == nullptr) return;
  const SchedulingPlace place =
      found != nullptr ? found->place : PlaceOf(*node.procedure, held.options().system_tables);
  const bool urgent = place.urgent || (node.parent != nullptr && node.parent->sched.urgent);
  held->scheduler.Bind(node.sched, place.priority, place.queue, urgent, place.exclusive);
}

void Enqueue(ExecutorLock& held, ProcNode& node, bool front) {
  ProcedureTree::SetPhase(node, Phase::kQueued);
  if (front) {
    held->scheduler.AddFront(node.sched);
  } else {
    held->scheduler.AddBack(node.sched);
  }
  held.NotifyWorkers(node.sched.urgent);
}

void LeaveEverything(ExecutorLock& held, ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} is busy", node.id.pid);
  held->scheduler.Remove(node.sched);
  LeaveWait(held, node);
  std::vector<ProcId> granted;
  CancelLocks(held, node, granted);
  ProcedureTree::SetPhase(node, Phase::kFree);
  ReadyGranted(held, granted);
}

void CancelLocks(ExecutorLock& held, ProcNode& node, std::vector<ProcId>& granted) {
  held->locks.Cancel(node.locks, granted);
  if (node.lock_state == LockState::kWaiting) node.lock_state = LockState::kNone;
}

void ReadyGranted(ExecutorLock& held, const std::vector<ProcId>& granted) {
  for (const ProcId pid : granted) {
    ProcNode* node = held->tree.Find(pid);
    RATCHET_CHECK(node != nullptr, "a lock was granted to pid {}, which is gone", pid);
    node->lock_state = LockState::kGranted;
    if (node->phase == Phase::kLockLine) held.Ready(*node);
  }
}

void SetInheritsChildLocks(ExecutorLock& held, ProcNode& node, bool inherits) {
  if (node.inherits_child_locks == inherits) return;
  node.inherits_child_locks = inherits;
  if (inherits) {
    ++held->lock_inheritors;
  } else {
    --held->lock_inheritors;
  }
}

namespace {

bool LocksResource(const Procedure& procedure, const ResourceKey& key) {
  const std::vector<LockRequest> wanted = procedure.Locks().Expanded();  // parents included
  return std::any_of(wanted.begin(), wanted.end(), [&key](const LockRequest& request) { return request.key == key; });
}

}  // namespace

bool Covers(const HeldState& held, const PauseScope& scope, const ProcNode& node) {
  switch (scope.kind) {
    case PauseScope::Kind::kEverything: return true;
    case PauseScope::Kind::kOrdinary: return !node.sched.urgent;
    case PauseScope::Kind::kType: return node.id.type == scope.type;
    case PauseScope::Kind::kResource: {
      if (node.procedure == nullptr) return false;
      if (!IsBusy(node.phase)) return LocksResource(*node.procedure, scope.resource);
      const ProcedurePtr copy = MakeFromRecord(held.core().deps.registry, node.id, node.durable.data);
      return copy != nullptr && LocksResource(*copy, scope.resource);
    }
    case PauseScope::Kind::kProcedure:
      if (node.id.pid == scope.pid) return true;
      for (ProcId up = node.id.parent; up.valid();) {  // by pid: a new node is not linked yet
        if (up == scope.pid) return true;
        const ProcNode* ancestor = held->tree.Find(up);
        up = ancestor == nullptr ? ProcId() : ancestor->id.parent;
      }
      return false;
  }
  return false;
}

const PauseInfo* PausedBy(const HeldState& held, const ProcNode& node) {
  for (const PauseInfo& pause : held->pauses.active) {
    if (Covers(held, pause.scope, node)) return &pause;
  }
  return nullptr;
}

}  // namespace ratchet::procedure
