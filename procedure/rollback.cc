#include "procedure/rollback.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "procedure/events.h"
#include "procedure/log_lines.h"
#include "procedure/notices.h"
#include "procedure/operator_verbs.h"
#include "procedure/pause.h"
#include "procedure/progress.h"
#include "procedure/report_intake.h"

namespace ratchet::procedure {
namespace {

// The members' steps that are left to undo.
void CollectUndo(ProcNode& root) {
  root.tree.undo.clear();
  for (ProcNode* member : ProcedureTree::Subtree(root)) {
    if (RATCHET_MUTANT("procedure.keep_succeeded") && member->durable.state == ProcState::kSuccess) continue;
    // Who bypasses the root gives up what its succeeded members have done; they take no verb of their own any more.
    if (root.durable.bypassed && IsTerminal(member->durable.state)) continue;
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
    ForgetRuns(*member);  // an undo counts its own
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

Status CanAbort(const ProcNode& root) {
  if (IsTerminal(root.durable.state)) return Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", root.id.pid));
  if (root.durable.past_no_return) {
    return Error(Code::kFailedPrecondition, fmt::format("pid {} is behind its point of no return", root.id.pid));
  }
  if (root.procedure == nullptr) return Error(Code::kFailedPrecondition, root.durable.parked);
  return Ok();
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
        NoteEnded(inner, *member);
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

bool IsGivenUp(const ProcNode& member) {
  const auto& left = member.root->tree.undo;
  return std::none_of(left.begin(), left.end(), [&member](const auto& entry) { return entry.second == &member; });
}

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

void DropNewestUndo(ProcNode& member) {
  auto& left = member.root->tree.undo;
  const auto newest =
      std::find_if(left.rbegin(), left.rend(), [&member](const auto& entry) { return entry.second == &member; });
  if (newest != left.rend()) left.erase(std::next(newest).base());
}

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
  if (newest.procedure == nullptr || !newest.durable.parked.empty()) return;  // shown as parked; an operator must act
  if (HoldIfPaused(session, newest)) return;
  newest.undoing = true;
  Enqueue(session, newest, /*front=*/true);
}

void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  Session session(core);
  ProcNode* node = session->tree.Find(pid);
  Status can = node == nullptr ? Status(Error(Code::kNotFound, fmt::format("no procedure has pid {}", pid))) : CanAbort(*node->root);
  if (session->halted || session->stopping) can = Error(Code::kUnavailable, "the executor has stopped");
  if (!can.ok() || node->root->tree.failing) {
    session.Later([done = std::move(done), can] { done(can); });
    return;
  }
  ProcNode& root = *node->root;
  const bool asked = root.abort.has_value();  // then both hear what comes of it
  if (!asked) root.abort = AbortRequest{std::move(note.who), std::move(note.why), {}, false};
  root.abort->done.push_back(std::move(done));
  root.abort->lets_go |= !root.durable.parked.empty() || !root.verbs.empty();
  if (asked) return;
  if (IsBusy(root.phase)) return;  // Settle finds it
  LeaveEverything(session, root);
  Settle(session, root);
}

void AnswerAbort(Session& session, ProcNode& root, const Status& answer) {
  if (!root.abort) return;
  for (auto& done : root.abort->done) session.Later([done = std::move(done), answer] { done(answer); });
  root.abort.reset();
}

bool ApplyAbort(Session& session, ProcNode& root) {
  if (const Status can = CanAbort(root); !can.ok()) {
    AnswerAbort(session, root, can);
    return false;
  }
  const AbortRequest request = *std::exchange(root.abort, std::nullopt);
  const Error why(Code::kAborted, fmt::format("aborted by {}: {}", request.who, request.why));
  LeaveEverything(session, root);
  Durable next = FailIdle(root.durable, root.procedure->FindRow(root.durable.step), root.begun,
                          session.core().deps.store.TakeSequence(), why, session.now_ms());
  AddVerb(next, {"abort", request.who, request.why, session.now_ms()});
  // An operator who aborts what is parked has looked at it. Undo of a state that this version does not know cannot be run.
  if (request.lets_go && UnknownState(*root.procedure, next).empty()) next.parked.clear();
  StoreThen(session, root, std::move(next), {}, {}, [why, request](Session& inner, ProcNode& failed) {
    failed.want = Want::kUndo;
    for (const auto& done : request.done) inner.Later([done] { done(Ok()); });
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
