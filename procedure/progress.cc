#include "procedure/progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/deadlock.h"
#include "procedure/notices.h"
#include "procedure/operator_verbs.h"
#include "procedure/pause.h"
#include "procedure/report_intake.h"
#include "procedure/rollback.h"
#include "procedure/scheduling_class.h"

namespace ratchet::procedure {
namespace {

void Disarm(Session& session, ProcNode& node) {
  if (!node.armed) return;
  node.armed = false;
  session->waits.Leave(node.id.pid);
  if (node.timer != 0) {
    session.core().deps.timers.Cancel(node.timer);
    node.timer = 0;
  }
  ++node.timer_serial;
}

void StartTimer(Session& session, ProcNode& node, Millis delay) {
  Core& core = session.core();
  const std::uint64_t serial = ++node.timer_serial;
  node.timer_due = core.deps.clock.Now() + delay;
  node.timer = core.deps.timers.After(delay, [weak = core.weak_from_this(), pid = node.id.pid, serial] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    Session inner(*alive);
    if (inner->stopping || inner->halted) return;
    ProcNode* found = inner->tree.Find(pid);
    if (found == nullptr || found->timer_serial != serial || !found->armed) return;
    found->timer = 0;
    EndWait(inner, *found, /*timed_out=*/found->want == Want::kEvent || found->want == Want::kOnce);
  });
}

// Starts the wait that the node wants. False: it is over already.
bool Arm(Session& session, ProcNode& node) {
  if (node.woken) {
    node.woken = false;
    return false;
  }
  if (node.armed) return true;  // it was only interrupted by a report
  if (node.want == Want::kOnce && node.once != nullptr && node.once->arrivals() != node.once_arrivals) return false;
  if ((node.want == Want::kEvent || node.want == Want::kOnce || node.want == Want::kRetry) && node.ticket) {
    const WaitTicket ticket = *std::move(node.ticket);
    node.ticket.reset();
    if (!session->waits.Park(node.id.pid, ticket)) return false;
  }
  node.armed = true;
  if (node.delay) StartTimer(session, node, *node.delay);
  return true;
}

// True when the step may run now; else the node waits in line or a commit is on its way.
bool EnsureLocks(Session& session, ProcNode& node) {
  if (node.has_grant) return true;
  if (node.locks.waits()) {
    ProcedureTree::SetPhase(node, Phase::kLockLine);
    return false;
  }
  std::vector<LockRequest> wanted = node.procedure->Locks().Expanded();
  if (!node.granted) {
    if (wanted.empty()) {
      node.has_grant = true;
      return true;
    }
    if (!session->locks.Request(node.locks, wanted)) {
      ProcedureTree::SetPhase(node, Phase::kLockLine);
      return false;
    }
  }
  node.granted = false;
  if (wanted == node.durable.locks || RATCHET_MUTANT("procedure.grant_not_durable")) {
    node.has_grant = true;
    return true;
  }
  Durable next = node.durable;
  next.locks = std::move(wanted);
  next.version += 1;
  StoreThen(session, node, std::move(next), {}, {}, [](Session& inner, ProcNode& stored) {
    stored.has_grant = true;
    Settle(inner, stored);
  });
  return false;
}

// The root goes on after its children, or starts, with the tree's point of no return: on record before it runs.
bool NeedsToPassNoReturn(const ProcNode& node) {
  if (node.parent != nullptr || node.durable.past_no_return || node.procedure == nullptr) return false;
  const StepRow* row = node.procedure->FindRow(node.durable.step);
  return row != nullptr && row->undo == UndoKind::kPointOfNoReturn;
}

void PassAndGoOn(Session& session, ProcNode& node) {
  Durable next = PassNoReturn(node.durable, session.now_ms());
  StoreThen(session, node, std::move(next), {}, {}, [](Session& inner, ProcNode& root) {
    std::vector<ProcId> granted;
    inner->locks.Retain(root.locks, root.durable.locks, granted);
    SetKeeps(inner, root, false);
    Settle(inner, root);
    ServeGranted(inner, granted);
  });
}

void Run(Session& session, ProcNode& node, bool front) {
  if (HoldIfPaused(session, node)) return;
  if (NeedsToPassNoReturn(node)) {
    PassAndGoOn(session, node);
  } else if (EnsureLocks(session, node)) {
    Enqueue(session, node, front);
  } else {
    BreakRing(session, node);
  }
}

}  // namespace

ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable) {
  return {node.id.pid, durable.version, EncodeRecord(node.id, durable)};
}

std::string FaultDetail(const ProcNode& node, StepNo step, bool undo) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(step);
  std::string detail = node.id.type + ":" + (row == nullptr ? std::to_string(step) : std::string(row->name));
  if (undo) detail += ":undo";
  return detail;
}

void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point) {
  RATCHET_CHECK(task.next.version == node.durable.version + 1, "pid {}: version {} after {}", node.id.pid,
                task.next.version, node.durable.version);
  RATCHET_CHECK(node.phase != Phase::kCommitting, "pid {} has a commit in flight (S11)", node.id.pid);
  ProcedureTree::SetPhase(node, Phase::kCommitting);
  task.system_puts = task.batch.system_puts;
  task.system_deletes = task.batch.system_deletes;
  task.point = point;
  task.node = &node;
}

ProcNode& ShowStored(Session& session, CommitTask& task) {
  for (SystemPut& put : task.system_puts) session->system_records[put.key] = std::move(put.value);
  for (const std::string& key : task.system_deletes) session->system_records.erase(key);
  std::swap(task.node->durable, task.next);
  ProcedureTree::SetPhase(*task.node, Phase::kFree);
  return *task.node;
}

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
  Disarm(session, node);
  node.woken = false;
  if (node.ticket) {
    session->waits.Drop(*node.ticket);
    node.ticket.reset();
  }
  std::vector<ProcId> granted;
  session->locks.Cancel(node.locks, granted);
  ProcedureTree::SetPhase(node, Phase::kFree);
  ServeGranted(session, granted);
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

void ForgetRuns(ProcNode& node) {
  node.attempt = 1;
  node.last_error.reset();
  node.unrecorded_runs = 0;
}

void ResetStep(ProcNode& node) {
  ForgetRuns(node);
  node.timed_out = false;
  node.begun = false;
  if (node.once != nullptr) {
    node.once->Forget();
    node.once.reset();
  }
}

void ServeGranted(Session& session, const std::vector<ProcId>& granted) {
  for (const ProcId pid : granted) {
    ProcNode* node = session->tree.Find(pid);
    RATCHET_CHECK(node != nullptr, "a lock was granted to pid {}, which is gone", pid);
    node->granted = true;
    if (node->phase == Phase::kLockLine) Settle(session, *node);
  }
  // Who stands behind somebody else now may stand in a ring that was not there when it came.
  for (const ProcId pid : std::exchange(session->moved_waiters, {})) {
    ProcNode* node = session->keepers == 0 ? nullptr : session->tree.Find(pid);
    if (node != nullptr) BreakRing(session, *node);
  }
}

void WaitForBackoff(Session& session, ProcNode& node) {
  ProcedureTree::SetPhase(node, Phase::kWaiting);
  node.armed = true;
  StartTimer(session, node, *node.delay);
}

void CutWaitShort(Session& session, ProcNode& node) {
  if (node.want != Want::kEvent && node.want != Want::kOnce && node.want != Want::kRetry) return;
  Disarm(session, node);
  node.woken = false;
  node.timed_out = false;  // what ends the wait was there before the time was up
  if (node.ticket) {
    session->waits.Drop(*node.ticket);
    node.ticket.reset();
  }
  node.want = Want::kRun;
}

bool EndWait(Session& session, ProcNode& node, bool timed_out) {
  if (!node.armed) return false;
  Disarm(session, node);
  node.timed_out = timed_out;
  if (IsBusy(node.phase)) {
    node.woken = true;  // a report is being folded; Settle sees it
    return true;
  }
  ProcedureTree::SetPhase(node, Phase::kFree);
  if (node.undoing) {
    node.undoing = false;
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    ContinueRollback(session, *node.root);
    return true;
  }
  node.want = Want::kRun;
  Settle(session, node);
  return true;
}

void Settle(Session& session, ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} settles while busy", node.id.pid);
  if (session->halted || session->stopping) return;
  node.held = false;  // found out anew
  ProcNode& root = *node.root;
  if (node.want == Want::kFinished) {
    ProcedureTree::SetPhase(node, Phase::kFinished);
    RefuseReports(session, node, "has finished");
    RefuseVerbs(session, node);
    AnswerAbort(session, node, Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", node.id.pid)));
    if (root.tree.failing) ContinueRollback(session, root);
    return;
  }
  if (!node.verbs.empty() && !root.tree.concluding && ApplyVerb(session, node)) return;
  if (root.tree.failing) {
    AnswerAbort(session, node, Ok());
    RefuseReports(session, node, "is being undone");
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    ContinueRollback(session, root);
    return;
  }
  if (!node.reports.empty()) {
    StartFold(session, node);
    return;
  }
  if (node.abort && ApplyAbort(session, node)) return;
  if (EndIfBypassed(session, node)) return;
  if (node.procedure == nullptr || !node.durable.parked.empty()) node.want = Want::kOperator;
  switch (node.want) {
    case Want::kRun: Run(session, node, /*front=*/true); return;
    case Want::kRunAgain:
      node.want = Want::kRun;
      Run(session, node, /*front=*/false);
      return;
    case Want::kChildren:
      if (node.unfinished_children == 0) {
        node.want = Want::kRun;
        node.durable.state = ProcState::kRunnable;  // derived from the children's durable states, never stored (S13)
        Run(session, node, /*front=*/true);
        return;
      }
      break;
    case Want::kEvent:
    case Want::kOnce:
    case Want::kRetry:
      if (!Arm(session, node)) {
        node.want = Want::kRun;
        Run(session, node, /*front=*/true);
        return;
      }
      break;
    case Want::kOperator:
    case Want::kUndo:
    case Want::kFinished: break;
  }
  ProcedureTree::SetPhase(node, Phase::kWaiting);
}

void Finish(Session& session, ProcNode& node) {
  node.want = Want::kFinished;
  SetKeeps(session, node, false);
  NoteEnded(session, node);
  if (node.parent != nullptr) {
    if (--node.parent->unfinished_children == 0 && node.parent->want == Want::kChildren && !IsBusy(node.parent->phase)) {
      Settle(session, *node.parent);
    }
  } else {
    session->completed[node.id.pid].finished = session.core().deps.clock.Now();
  }
}

std::vector<ProcId> DescendantsToDelete(ProcNode& node) {
  std::vector<ProcId> pids;
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member != &node) pids.push_back(member->id.pid);
  }
  return pids;
}

void RemoveDescendants(Session& session, ProcNode& node) {
  std::vector<ProcNode*> members = ProcedureTree::Subtree(node);
  for (std::size_t i = members.size(); i > 1; --i) {
    ProcNode& member = *members[i - 1];
    session->scheduler.Unbind(member.sched);
    SetKeeps(session, member, false);
    session->tree.Remove(member);
  }
}

}  // namespace ratchet::procedure
