#include "procedure/engine/queueing.h"

#include "common/base/check.h"
#include "procedure/api/scheduling_class.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

void BindToScheduler(ExecutorLock& held, ProcNode& node) {
  if (node.procedure == nullptr) return;
  const bool urgent = node.procedure->Urgent() || (node.parent != nullptr && node.parent->sched.urgent);
  const SchedulingPlace place = PlaceOf(*node.procedure);
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

}  // namespace ratchet::procedure
