#include "procedure/rollback.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/events.h"
#include "procedure/log_lines.h"
#include "procedure/operator_verbs.h"
#include "procedure/pause.h"
#include "procedure/progress.h"
#include "procedure/report_intake.h"

namespace ratchet::procedure {
namespace {

void CollectUndo(ProcNode& root) {
  root.tree.undo.clear();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (RATCHET_MUTANT("procedure.keep_succeeded") && member->durable.state == ProcState::kSuccess) continue;
    for (const UndoEntry& entry : member->durable.undo) root.tree.undo.emplace_back(entry.order, member);
  }
  std::sort(root.tree.undo.begin(), root.tree.undo.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

// One batch: every member that has not finished becomes FAILED, interrupted steps join the list.
void Prepare(Session& session, ProcNode& root) {
  StoreBatch batch;
  auto changed = std::make_shared<std::vector<std::pair<ProcNode*, Durable>>>();
  root.tree.preparing = true;  // a member that leaves a line may let another one of the same tree through
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->phase != Phase::kFinished) LeaveEverything(session, *member);
    RefuseReports(session, *member, "is being undone");
    if (member->once != nullptr) member->once->Forget();
    if (IsTerminal(member->durable.state)) continue;
    if (member->durable.state == ProcState::kFailed) {  // on record already
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
      continue;
    }
    const StepRow* row = member->procedure == nullptr ? nullptr : member->procedure->FindRow(member->durable.step);
    const Error why = member == &root ? *root.tree.error
                                      : Error(Code::kAborted, fmt::format("undone with its tree: {}",
                                                                          root.tree.error->ToString()));
    Durable next = FailIdle(member->durable, row, member->begun, session.core().deps.store.TakeSequence(), why,
                            session.now_ms());
    batch.upserts.push_back(UpsertOf(*member, next));
    changed->emplace_back(member, std::move(next));
  }
  root.tree.preparing = false;
  root.tree.prepared = true;
  if (changed->empty()) {
    CollectUndo(root);
    ContinueRollback(session, root);
    return;
  }
  for (auto& [member, next] : *changed) ProcedureTree::SetPhase(*member, Phase::kCommitting);
  session.Commit(std::move(batch), {}, [&root, changed](Session& inner) {
    for (auto& [member, next] : *changed) {
      member->durable = std::move(next);
      member->want = Want::kUndo;
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
    }
    CollectUndo(root);
    ContinueRollback(inner, root);
  });
}

// Nothing is left to undo: the root's end and the members' removal in one batch.
void Conclude(Session& session, ProcNode& root) {
  Durable next = root.durable;
  next.state = ProcState::kRolledBack;
  next.parked.clear();
  if (root.tree.error) next.error = root.tree.error;
  next.locks.clear();
  next.undo.clear();
  next.children = 0;
  next.version += 1;
  next.updated_ms = session.now_ms();
  StoreBatch batch;
  batch.deletes = DescendantsToDelete(root);
  root.tree.concluding = true;
  StoreThen(session, root, std::move(next), std::move(batch), {}, [](Session& inner, ProcNode& done) {
    std::vector<ProcId> granted;
    for (ProcNode* member : ProcedureTree::Subtree(done)) inner->locks.Release(member->locks, granted);
    for (ProcNode* member : ProcedureTree::Subtree(done)) {
      if (member != &done && !IsTerminal(member->durable.state)) {
        member->durable.state = ProcState::kRolledBack;
        member->want = Want::kFinished;
      }
      if (member != &done) RefuseVerbs(inner, *member);
    }
    RemoveDescendants(inner, done);
    done.unfinished_children = 0;
    done.tree.failing = false;
    Finish(inner, done);
    Settle(inner, done);
    ServeGranted(inner, granted);
  });
}

}  // namespace

void BeginRollback(Session& session, ProcNode& root, const Error& error) {
  if (!root.tree.error) root.tree.error = error;
  root.tree.failing = true;
  LogFailed(session, root, error);
  Emit(session, EventKind::kFailed, root, error.ToString());
}

void ContinueRollback(Session& session, ProcNode& root) {
  RATCHET_CHECK(root.tree.failing, "pid {} is not failing", root.id.pid);
  if (root.tree.busy > 0 || root.tree.preparing || session->halted || session->stopping) return;
  if (root.tree.holes > 0) return;  // what is missing would not be undone; an operator must act
  if (!root.tree.prepared) {
    Prepare(session, root);
    return;
  }
  if (root.tree.undo.empty()) {
    Conclude(session, root);
    return;
  }
  ProcNode& newest = *(RATCHET_MUTANT("procedure.undo_oldest_first") ? root.tree.undo.front() : root.tree.undo.back()).second;
  if (newest.phase == Phase::kQueued || newest.armed) return;  // on its way, or in its backoff
  if (newest.procedure == nullptr) return;                     // shown as parked; an operator must act
  if (HoldIfPaused(session, newest)) return;
  newest.undoing = true;
  Enqueue(session, newest, /*front=*/true);
}

bool ApplyAbort(Session& session, ProcNode& root) {
  const AbortRequest request = *std::move(root.abort);
  root.abort.reset();
  if (root.durable.past_no_return || IsTerminal(root.durable.state) || root.procedure == nullptr) return false;
  const Error why(Code::kAborted, fmt::format("aborted by {}: {}", request.who, request.why));
  LeaveEverything(session, root);
  Durable next = FailIdle(root.durable, root.procedure->FindRow(root.durable.step), root.begun,
                          session.core().deps.store.TakeSequence(), why, session.now_ms());
  next.verbs.push_back({"abort", request.who, request.why, session.now_ms()});
  StoreThen(session, root, std::move(next), {}, {}, [why](Session& inner, ProcNode& failed) {
    failed.want = Want::kUndo;
    BeginRollback(inner, failed, why);
    Settle(inner, failed);
  });
  return true;
}

void RestoreRollback(ProcNode& root) {
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->durable.state != ProcState::kFailed) continue;
    root.tree.failing = true;
    member->want = Want::kUndo;
    if (!root.tree.error || member == &root) root.tree.error = member->durable.error;
  }
  if (root.tree.failing && !root.tree.error) root.tree.error = Error(Code::kInternal, "failed for an unknown reason");
}

}  // namespace ratchet::procedure
