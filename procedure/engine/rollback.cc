#include "procedure/engine/rollback.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/core/node.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/step_run.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

// Declared in the order of a tree's rollback.
void Prepare(ExecutorLock& held, ProcNode& root);
void CollectUndo(ProcNode& root);
void StoreUndone(ExecutorLock& held, ProcNode& node, StepRun& run, std::string data);
void UndoFailed(ExecutorLock& held, ProcNode& node, const StepRun& run, const Error& why);
void DropNewestUndo(ProcNode& member);
void Conclude(ExecutorLock& held, ProcNode& root);

// True if the member has no undo entries left: if it runs an undo now, that undo was abandoned.
bool IsGivenUp(const ProcNode& member) {
  const auto& left = member.root->tree.undo;
  return std::none_of(left.begin(), left.end(), [&member](const auto& entry) { return entry.second == &member; });
}

}  // namespace

void BeginRollback(ExecutorLock& held, ProcNode& root, const Error& error) {
  if (!root.tree.error) root.tree.error = error;
  root.tree.failing = true;
  LogFailed(held, root, error);
  Emit(held, ActivityKind::kFailed, root, error.ToString());
}

void ContinueRollback(ExecutorLock& held, ProcNode& root) {
  RATCHET_CHECK(root.tree.failing, "pid {} is not failing", root.id.pid);
  if (root.tree.busy > 0 || held->halted || held->stopping) return;
  if (root.tree.incomplete > 0) return;  // the undo of the missing child would be skipped; an operator must act
  if (!root.tree.prepared) {
    Prepare(held, root);
    return;
  }
  if (root.tree.undo.empty()) {
    Conclude(held, root);
    return;
  }
  ProcNode& newest =
      *(RATCHET_MUTANT("procedure.undo_oldest_first") ? root.tree.undo.front() : root.tree.undo.back()).second;
  if (newest.phase == Phase::kQueued || IsWaiting(newest)) return;            // queued, running or in its backoff
  if (newest.procedure == nullptr || !newest.durable.parked.empty()) return;  // shown as parked; an operator must act
  if (HoldIfPaused(held, newest)) return;
  newest.work = NodeWork::kUndo;
  Enqueue(held, newest, /*front=*/true);
}

void ConcludeUndo(ExecutorLock& held, ProcNode& node, StepRun& run, const Status& status, std::string data) {
  EndRun(held, node, run, std::nullopt);
  ForgetAsyncResults(node);
  if (status.ok()) {
    StoreUndone(held, node, run, std::move(data));
  } else {
    UndoFailed(held, node, run, status.error());
  }
}

namespace {

// Stores in one batch: every unfinished member becomes FAILED, and interrupted steps are added to the undo list.
void Prepare(ExecutorLock& held, ProcNode& root) {
  StoreBatch batch;
  auto changed = std::make_shared<std::vector<std::pair<ProcNode*, Durable>>>();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->phase != Phase::kFinished) LeaveEverything(held, *member);
    RefuseReports(held, *member, "is being undone");
    if (member->async_results != nullptr) member->async_results->Forget();
    if (IsTerminal(member->durable.state)) continue;
    ForgetRuns(*member);                                // an undo has its own count
    if (member->durable.state == ProcState::kFailed) {  // already durable
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
      continue;
    }
    const StepRow* row = member->procedure == nullptr ? nullptr : member->procedure->FindRow(member->durable.step);
    const Error why = member == &root
                          ? *root.tree.error
                          : Error(Code::kAborted, fmt::format("undone with its tree: {}", root.tree.error->ToString()));
    Durable next =
        FailIdle(member->durable, row, member->begun, held.core().deps.store.NextSequence(), why, held.now_ms());
    batch.upserts.push_back(UpsertOf(*member, next));
    changed->emplace_back(member, std::move(next));
  }
  root.tree.prepared = true;
  if (changed->empty()) {
    CollectUndo(root);
    held.ReadyUndo(root);
    return;
  }
  for (auto& [member, next] : *changed) ProcedureTree::SetPhase(*member, Phase::kCommitting);
  held.Commit(std::move(batch), {}, [&root, changed](ExecutorLock& inner) {
    for (auto& [member, next] : *changed) {
      member->durable = std::move(next);
      SetNextAction(*member, ForUndo{});
      ProcedureTree::SetPhase(*member, Phase::kWaiting);
    }
    CollectUndo(root);
    inner.ReadyUndo(root);
  });
}

// Collects the members' steps that remain to be undone.
void CollectUndo(ProcNode& root) {
  root.tree.undo.clear();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    // A bypass of the root abandons the undo of its succeeded members; they accept no further verb.
    const bool abandons = root.durable.bypassed || RATCHET_MUTANT("procedure.keep_succeeded");
    if (abandons && IsTerminal(member->durable.state)) continue;
    for (const UndoEntry& entry : member->durable.undo) root.tree.undo.emplace_back(entry.order, member);
  }
  std::sort(root.tree.undo.begin(), root.tree.undo.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

void UndoFailed(ExecutorLock& held, ProcNode& node, const StepRun& run, const Error& why) {
  node.last_error = why;
  const Millis delay = BackoffDelay(held.options().retry, node.attempt, held->prng);
  ++node.attempt;
  ++node.unrecorded_runs;
  LogUndone(held, node, run.step(), &why);
  Emit(held, ActivityKind::kUndoFailed, node, run.step(), why.ToString());
  if (IsGivenUp(node)) {
    LeaveUndo(held, node);
    held.ReadyUndo(*node.root);
    return;
  }
  WaitForBackoff(held, node, delay);
  if (!node.verbs.empty()) held.Ready(node);  // a verb that came meanwhile does not wait for a successful undo
}

void StoreUndone(ExecutorLock& held, ProcNode& node, StepRun& run, std::string data) {
  Durable next = PopUndo(node.durable, node.parent == nullptr, run.HistoryEntry(OutcomeKind::kUndone, nullptr),
                         held.now_ms(), held.options().history_per_procedure, std::move(data));
  const StepNo step = run.step();
  StoreThen(held, node, std::move(next), std::move(run.staged()), {step, /*undo=*/true},
            [step](ExecutorLock& inner, ProcNode& undone) {
              undone.work = NodeWork::kIdle;
              ForgetRuns(undone);
              DropNewestUndo(undone);
              LogUndone(inner, undone, step, nullptr);
              Emit(inner, ActivityKind::kUndone, undone, step);
              if (undone.next_kind() != NextActionKind::kFinished && IsTerminal(undone.durable.state)) {
                SetNextAction(undone, Ended{});
                --undone.parent->unfinished_children;
                NoteEnded(inner, undone);
              }
              inner.Ready(undone);
            });
}

// The member's newest undo is recorded as done. There is nothing left to drop if the undo was abandoned while it ran.
void DropNewestUndo(ProcNode& member) {
  auto& left = member.root->tree.undo;
  const auto newest =
      std::find_if(left.rbegin(), left.rend(), [&member](const auto& entry) { return entry.second == &member; });
  if (newest != left.rend()) left.erase(std::next(newest).base());
}

// The rollback is complete: the root's end and the members' removal in one batch.
void Conclude(ExecutorLock& held, ProcNode& root) {
  Durable next = EndRolledBack(root.durable, root.tree.error, held.now_ms());
  StoreBatch batch;
  batch.deletes = DescendantsToDelete(root);
  root.tree.concluding = true;
  StoreThen(held, root, std::move(next), std::move(batch), {}, [](ExecutorLock& inner, ProcNode& done) {
    std::vector<ProcId> granted;
    for (ProcNode* member : ProcedureTree::Subtree(done)) inner->locks.Release(member->locks, granted);
    for (ProcNode* member : ProcedureTree::Subtree(done)) {
      if (member != &done && !IsTerminal(member->durable.state)) {
        EndWithTree(member->durable);
        SetNextAction(*member, Ended{});
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

void LeaveUndo(ExecutorLock& held, ProcNode& member) {
  LeaveEverything(held, member);
  ProcedureTree::SetPhase(member, Phase::kWaiting);
  member.work = NodeWork::kIdle;
  member.held = false;
}

void ForgetUndo(ExecutorLock& held, ProcNode& root) {
  const auto before = std::exchange(root.tree.undo, {});
  CollectUndo(root);
  for (const auto& [order, member] : before) {
    if (member->work == NodeWork::kUndo && !IsBusy(member->phase) && IsGivenUp(*member)) LeaveUndo(held, *member);
  }
}

void RestoreRollback(ProcNode& root) {
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->durable.state != ProcState::kFailed) continue;
    root.tree.failing = true;
    SetNextAction(*member, ForUndo{});
    if (!root.tree.error || member == &root) root.tree.error = member->durable.error;
  }
  if (root.tree.failing && !root.tree.error) root.tree.error = Error(Code::kInternal, "failed for an unknown reason");
}

}  // namespace ratchet::procedure
