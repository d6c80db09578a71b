#include "procedure/engine/progress.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/engine/abort.h"
#include "procedure/engine/deadlock.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/report_handler.h"
#include "procedure/engine/rollback.h"
#include "procedure/session/answers.h"
#include "procedure/session/node_commit.h"
#include "procedure/session/places.h"
#include "procedure/session/waiting.h"

namespace ratchet::procedure {
namespace {

void Park(Session& session, ProcNode& node);
void Run(Session& session, ProcNode& node, bool front);
bool EnsureLocks(Session& session, ProcNode& node);
bool NeedsToPassNoReturn(const ProcNode& node);
void PassAndGoOn(Session& session, ProcNode& node);

// The node is free: starts whatever comes first of its end, a verb, its tree's undoing, a report, an abort, and what it
// wants.
void Advance(Session& session, ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} goes on while busy", node.id.pid);
  if (session->halted || session->stopping) return;
  node.held = false;  // found out anew
  ProcNode& root = *node.root;
  if (node.want() == Want::kFinished) {
    ProcedureTree::SetPhase(node, Phase::kFinished);
    RefuseReports(session, node, "has finished");
    RefuseVerbs(session, node);
    AnswerAbort(session, node, Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", node.id.pid)));
    if (root.tree.failing) session.ReadyUndo(root);
    return;
  }
  if (!node.verbs.empty() && !root.tree.concluding && ApplyVerb(session, node)) return;
  if (root.tree.failing) {
    AnswerAbort(session, node, Ok());
    RefuseReports(session, node, "is being undone");
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    session.ReadyUndo(root);
    return;
  }
  if (!node.reports.empty()) {
    StartFold(session, node);
    return;
  }
  if (node.abort && ApplyAbort(session, node)) return;
  if (EndIfBypassed(session, node)) return;
  if (node.procedure == nullptr || !node.durable.parked.empty()) Park(session, node);
  switch (node.want()) {
    case Want::kRun: Run(session, node, /*front=*/true); return;
    case Want::kRunAgain:
      SetIntent(node, ToRun{});
      Run(session, node, /*front=*/false);
      return;
    case Want::kChildren:
      if (node.unfinished_children == 0) {
        SetIntent(node, ToRun{});
        MoveTo(node.durable.state,
               ProcState::kRunnable);  // derived from the children's durable states, never stored (S13)
        Run(session, node, /*front=*/true);
        return;
      }
      break;
    case Want::kEvent:
    case Want::kOnce:
    case Want::kRetry:
      if (!BeginWait(session, node)) {
        SetIntent(node, ToRun{});
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

// What it waited for does not wake it any more.
void Park(Session& session, ProcNode& node) {
  LeaveWait(session, node);
  SetIntent(node, ForOperator{});
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
    inner.Ready(stored);
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
    inner.Ready(root);
    ReadyGranted(inner, granted);
  });
}

}  // namespace

void DrainReady(Session& session) {
  while (true) {
    if (ProcNode* node = session.TakeReady()) {
      Advance(session, *node);
    } else if (!session->moved_waiters.empty()) {
      BreakMovedRings(session);
    } else if (ProcNode* root = session.TakeReadyUndo()) {
      if (root->tree.failing) ContinueRollback(session, *root);  // else its end was published in the same group
    } else {
      return;
    }
  }
}

}  // namespace ratchet::procedure
