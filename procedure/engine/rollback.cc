#include "procedure/engine/rollback.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/step_run.h"
#include "procedure/session/answers.h"
#include "procedure/session/node_commit.h"
#include "procedure/session/node_record.h"
#include "procedure/session/places.h"
#include "procedure/session/waiting.h"
#include "procedure/views/activity.h"
#include "procedure/views/log_lines.h"
#include "procedure/views/notices.h"

namespace ratchet::procedure {
namespace {

// In the order of a tree's undoing.
void Prepare(Session& session, ProcNode& root);
void CollectUndo(ProcNode& root);
void StoreUndone(Session& session, ProcNode& node, StepRun& run, std::string data);
void UndoFailed(Session& session, ProcNode& node, const StepRun& run, const Error& why);
void DropNewestUndo(ProcNode& member);
void Conclude(Session& session, ProcNode& root);

// Whether nothing of what the member has done is left to undo: given up, if it runs an undo at this moment.
bool IsGivenUp(const ProcNode& member) {
  const auto& left = member.root->tree.undo;
  return std::none_of(left.begin(), left.end(), [&member](const auto& entry) { return entry.second == &member; });
}

}  // namespace

void BeginRollback(Session& session, ProcNode& root, const Error& error) {
  if (!root.tree.error) root.tree.error = error;
  root.tree.failing = true;
  LogFailed(session, root, error);
  Emit(session, ActivityKind::kFailed, root, error.ToString());
}

void ContinueRollback(Session& session, ProcNode& root) {
  RATCHET_CHECK(root.tree.failing, "pid {} is not failing", root.id.pid);
  if (root.tree.busy > 0 || session->halted || session->stopping) return;
  if (root.tree.holes > 0) return;  // what is missing would not be undone; an operator must act
  if (!root.tree.prepared) {
    Prepare(session, root);
    return;
  }
  if (root.tree.undo.empty()) {
    Conclude(session, root);
    return;
  }
  ProcNode& newest =
      *(RATCHET_MUTANT("procedure.undo_oldest_first") ? root.tree.undo.front() : root.tree.undo.back()).second;
  if (newest.phase == Phase::kQueued || IsWaiting(newest)) return;            // on its way, or in its backoff
  if (newest.procedure == nullptr || !newest.durable.parked.empty()) return;  // shown as parked; an operator must act
  if (HoldIfPaused(session, newest)) return;
  newest.undoing = true;
  Enqueue(session, newest, /*front=*/true);
}

void ConcludeUndo(Session& session, ProcNode& node, StepRun& run, const Status& status, std::string data) {
  EndRun(session, node, run, std::nullopt);
  if (status.ok()) {
    StoreUndone(session, node, run, std::move(data));
  } else {
    UndoFailed(session, node, run, status.error());
  }
}

namespace {

// One batch: every member that has not finished becomes FAILED, interrupted steps join the list.
void Prepare(Session& session, ProcNode& root) {
  StoreBatch batch;
  auto changed = std::make_shared<std::vector<std::pair<ProcNode*, Durable>>>();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->phase != Phase::kFinished) LeaveEverything(session, *member);
    RefuseReports(session, *member, "is being undone");
    if (member->once != nullptr) member->once->Forget();
    if (IsTerminal(member->durable.state)) continue;
    ForgetRuns(*member);                                // an undo counts its own
    if (member->durable.state == ProcState::kFailed) {  // on record already
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
      continue;
    }
    const StepRow* row = member->procedure == nullptr ? nullptr : member->procedure->FindRow(member->durable.step);
    const Error why = member == &root
                          ? *root.tree.error
                          : Error(Code::kAborted, fmt::format("undone with its tree: {}", root.tree.error->ToString()));
    Durable next =
        FailIdle(member->durable, row, member->begun, session.core().deps.store.TakeSequence(), why, session.now_ms());
    batch.upserts.push_back(UpsertOf(*member, next));
    changed->emplace_back(member, std::move(next));
  }
  root.tree.prepared = true;
  if (changed->empty()) {
    CollectUndo(root);
    session.ReadyUndo(root);
    return;
  }
  for (auto& [member, next] : *changed) ProcedureTree::SetPhase(*member, Phase::kCommitting);
  session.Commit(std::move(batch), {}, [&root, changed](Session& inner) {
    for (auto& [member, next] : *changed) {
      member->durable = std::move(next);
      SetIntent(*member, ForUndo{});
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
    }
    CollectUndo(root);
    inner.ReadyUndo(root);
  });
}

// The members' steps that are left to undo.
void CollectUndo(ProcNode& root) {
  root.tree.undo.clear();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (RATCHET_MUTANT("procedure.keep_succeeded") && member->durable.state == ProcState::kSuccess) continue;
    // A bypass of the root gives up what its succeeded members have done; they take no verb of their own any more.
    if (root.durable.bypassed && IsTerminal(member->durable.state)) continue;
    for (const UndoEntry& entry : member->durable.undo) root.tree.undo.emplace_back(entry.order, member);
  }
  std::sort(root.tree.undo.begin(), root.tree.undo.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

void UndoFailed(Session& session, ProcNode& node, const StepRun& run, const Error& why) {
  node.last_error = why;
  const Millis delay = BackoffDelay(session.options().retry, node.attempt, session->prng);
  ++node.attempt;
  ++node.unrecorded_runs;
  LogUndone(session, node, run.step(), &why);
  Emit(session, ActivityKind::kUndoFailed, node, run.step(), why.ToString());
  if (IsGivenUp(node)) {
    LeaveUndo(session, node);
    session.ReadyUndo(*node.root);
    return;
  }
  WaitForBackoff(session, node, delay);
  if (!node.verbs.empty()) session.Ready(node);  // one that came while the undo ran does not wait until it succeeds
}

void StoreUndone(Session& session, ProcNode& node, StepRun& run, std::string data) {
  Durable next = PopUndo(node.durable, node.parent == nullptr, run.HistoryEntry(OutcomeKind::kUndone, nullptr),
                         session.now_ms(), session.options().history_per_procedure, std::move(data));
  const StepNo step = run.step();
  StoreThen(session, node, std::move(next), std::move(run.staged()), {step, /*undo=*/true},
            [step](Session& inner, ProcNode& undone) {
              undone.undoing = false;
              ForgetRuns(undone);
              DropNewestUndo(undone);
              LogUndone(inner, undone, step, nullptr);
              Emit(inner, ActivityKind::kUndone, undone, step);
              if (undone.want() != Want::kFinished && IsTerminal(undone.durable.state)) {
                SetIntent(undone, Ended{});
                --undone.parent->unfinished_children;
                NoteEnded(inner, undone);
              }
              inner.Ready(undone);
            });
}

// The member's newest undo is on record as done. Nothing is left to drop when it was given up while it ran.
void DropNewestUndo(ProcNode& member) {
  auto& left = member.root->tree.undo;
  const auto newest =
      std::find_if(left.rbegin(), left.rend(), [&member](const auto& entry) { return entry.second == &member; });
  if (newest != left.rend()) left.erase(std::next(newest).base());
}

// Nothing is left to undo: the root's end and the members' removal in one batch.
void Conclude(Session& session, ProcNode& root) {
  Durable next = root.durable;
  MoveTo(next.state, ProcState::kRolledBack);
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
        MoveTo(member->durable.state, ProcState::kRolledBack);
        SetIntent(*member, Ended{});
        NoteEnded(inner, *member);
      }
      if (member != &done) RefuseVerbs(inner, *member);
    }
    RemoveDescendants(inner, done);
    done.unfinished_children = 0;
    done.tree.failing = false;
    Finish(inner, done);
    inner.Ready(done);
    ReadyGranted(inner, granted);
  });
}

}  // namespace

void LeaveUndo(Session& session, ProcNode& member) {
  LeaveEverything(session, member);
  ProcedureTree::SetPhase(member, Phase::kWaiting);
  member.undoing = false;
  member.held = false;
}

void ForgetUndo(Session& session, ProcNode& root) {
  const auto before = std::exchange(root.tree.undo, {});
  CollectUndo(root);
  for (const auto& [order, member] : before) {
    if (member->undoing && !IsBusy(member->phase) && IsGivenUp(*member)) LeaveUndo(session, *member);
  }
}

void RestoreRollback(ProcNode& root) {
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->durable.state != ProcState::kFailed) continue;
    root.tree.failing = true;
    SetIntent(*member, ForUndo{});
    if (!root.tree.error || member == &root) root.tree.error = member->durable.error;
  }
  if (root.tree.failing && !root.tree.error) root.tree.error = Error(Code::kInternal, "failed for an unknown reason");
}

}  // namespace ratchet::procedure
