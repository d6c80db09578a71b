#include "procedure/session/places.h"

#include "common/base/check.h"
#include "procedure/author/scheduling_class.h"
#include "procedure/session/waiting.h"

namespace ratchet::procedure {

void BindToScheduler(Session& session, ProcNode& node) {
  if (node.procedure == nullptr) return;
  const bool urgent = node.procedure->Urgent() || (node.parent != nullptr && node.parent->sched.urgent);
  const SchedulingPlace place = PlaceOf(*node.procedure);
  session->scheduler.Bind(node.sched, place.priority, place.queue, urgent, place.exclusive);
}

void Enqueue(Session& session, ProcNode& node, bool front) {
  ProcedureTree::SetPhase(node, Phase::kQueued);
  if (front) {
    session->scheduler.AddFront(node.sched);
  } else {
    session->scheduler.AddBack(node.sched);
  }
  session.NotifyWorkers(node.sched.urgent);
}

void LeaveEverything(Session& session, ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} is busy", node.id.pid);
  session->scheduler.Remove(node.sched);
  LeaveWait(session, node);
  std::vector<ProcId> granted;
  session->locks.Cancel(node.locks, granted);
  ProcedureTree::SetPhase(node, Phase::kFree);
  ReadyGranted(session, granted);
}

void ReadyGranted(Session& session, const std::vector<ProcId>& granted) {
  for (const ProcId pid : granted) {
    ProcNode* node = session->tree.Find(pid);
    RATCHET_CHECK(node != nullptr, "a lock was granted to pid {}, which is gone", pid);
    node->granted = true;
    if (node->phase == Phase::kLockLine) session.Ready(*node);
  }
}

void SetKeeps(Session& session, ProcNode& node, bool keeps) {
  if (node.kept_for_children == keeps) return;
  node.kept_for_children = keeps;
  if (keeps) {
    ++session->keepers;
  } else {
    --session->keepers;
  }
}

}  // namespace ratchet::procedure
