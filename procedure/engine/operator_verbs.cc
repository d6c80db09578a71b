#include "procedure/engine/operator_verbs.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/proc_state.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/rollback.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

namespace {

// Hands a verb to the procedure; it is applied as soon as the procedure is free.
void Queue(Core& core, ProcId pid, VerbRequest request) {
  ExecutorLock held(core);
  ProcNode* node = held->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state) || held->halted || held->stopping) {
    RefuseVerb(held, pid, std::move(request));
  } else {
    node->verbs.push_back(std::move(request));
    if (!IsBusy(node->phase)) held.Ready(*node);  // otherwise the verb is found when the node is free
  }
  held.Finish();
}

// Called when the verb is durable: the node no longer waits for its previous event.
void AfterVerb(ExecutorLock& held, ProcNode& node) {
  ProcNode& root = *node.root;
  if (node.missing_children && (node.durable.parked.empty() || node.durable.bypassed)) {
    node.missing_children = false;
    --root.tree.incomplete;
  }
  if (root.tree.failing) {
    if (node.durable.bypassed && root.tree.prepared) ForgetUndo(held, root);
    LeaveUndo(held, node);
    held.ReadyUndo(root);
    return;
  }
  CutWaitShort(held, node);
  if (node.next_kind() == NextActionKind::kOperator)
    SetNextAction(node, NextActionOf(NextActionKindByState(node.durable.state)));
  held.Ready(node);
}

// S82 (rerun skips no state): no state is skipped that later states rely on, and no state that may fail runs after the
// point of no return.
Status MaySendTo(const ProcNode& node, StepNo from, const StepRow& to) {
  RATCHET_TRY(CheckRerun(*node.procedure, from, to.number));
  const bool past = node.root->durable.past_no_return;
  if (past == (to.undo == UndoKind::kPointOfNoReturn)) return Ok();
  return Error(Code::kFailedPrecondition,
               past
                   ? fmt::format("{} may fail, and the tree is past its point of no return", to.name)
                   : fmt::format("{} is past the point of no return, which only a step of the tree may pass", to.name));
}

// The state that a rerun leaves may have acted without having ended: it is undone like a completed one.
std::optional<UndoEntry> AbandonedStep(Core& core, const ProcNode& node, const Durable& now) {
  const bool between_steps = now.state == ProcState::kWaiting;
  if (!node.begun || between_steps || node.root->durable.past_no_return) return std::nullopt;
  const StepRow* row = node.procedure->FindRow(now.step);
  if (row == nullptr || row->undo != UndoKind::kCall) return std::nullopt;
  return UndoEntry{row->number, core.deps.store.NextSequence()};
}

VerbRequest MakeBypass(const OperatorNote& note, bool recursive, VerbDone done) {
  return {"bypass", note,
          [recursive](const ProcNode& node, Durable& next) -> Status {
            if (node.unfinished_children > 0 && !recursive) {
              return Error(Code::kFailedPrecondition, fmt::format("pid {} has unfinished children", node.id.pid));
            }
            if (node.procedure != nullptr) RATCHET_TRY(node.procedure->CheckBypass());
            MarkBypassed(next);
            if (node.missing_children) AcceptLoss(next, node.children.size());
            return Ok();
          },
          std::move(done)};
}

// Decides by the record, also while a worker has the object.
Status MayBypass(const HeldState& held, const ProcNode& node) {
  if (node.procedure == nullptr) return Ok();
  const ProcedurePtr copy = MakeFromRecord(held.core().deps.registry, node.id, node.durable.data);
  const Status may = copy == nullptr ? Ok() : copy->CheckBypass();
  return may.ok() ? may : Status(may.error().Annotate(fmt::format("pid {}", node.id.pid)));
}

// Lists the others that end with `pid`. All or none: an error leaves all of them as they are. (Each is checked again
// when its verb is applied.)
Status FindBypassed(const HeldState& held, ProcId pid, bool recursive, std::vector<ProcId>& above,
                    std::vector<ProcId>& below) {
  ProcNode* node = held->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state)) return Ok();
  if (node->unfinished_children > 0 && !recursive) return Ok();
  RATCHET_TRY(MayBypass(held, *node));
  for (ProcNode* up = node->parent; up != nullptr; up = up->parent) {
    RATCHET_TRY(MayBypass(held, *up));
    above.push_back(up->id.pid);
  }
  for (ProcNode* member : ProcedureTree::Subtree(*node)) {
    if (!recursive || member == node || IsTerminal(member->durable.state)) continue;
    RATCHET_TRY(MayBypass(held, *member));
    below.push_back(member->id.pid);
  }
  return Ok();
}

}  // namespace

void BypassProcedure(Core& core, ProcId pid, bool recursive, OperatorNote note, VerbDone done) {
  std::vector<ProcId> above;
  std::vector<ProcId> below;
  {
    ExecutorLock held(core);
    const Status may = FindBypassed(held, pid, recursive, above, below);
    if (!may.ok()) {
      held.Later([done = std::move(done), may] { done(may); });
      held.Finish();
      return;
    }
    held.Finish();
  }
  const auto queue = [&core, &note](ProcId other) {
    Queue(core, other, MakeBypass(note, /*recursive=*/true, [other](const Status& status) {
            if (!status.ok()) RATCHET_LOG(kWarn, "bypass of pid={}: {}", other, status.error().ToString());
          }));
  };
  // From the top down, so that no ancestor runs another step when the last descendant ends. If the master dies in
  // between, a load derives the bypass of ancestors from the bypass of their descendants.
  for (const ProcId other : above) queue(other);
  Queue(core, pid, MakeBypass(note, recursive, std::move(done)));
  for (const ProcId other : below) queue(other);
}

void ParkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done) {
  Queue(core, pid,
        {"park", note,
         [note](const ProcNode&, Durable& next) -> Status {
           Park(next, fmt::format("parked by {}: {}", note.who, note.why));
           return Ok();
         },
         std::move(done)});
}

void UnparkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done) {
  Queue(core, pid,
        {"unpark", std::move(note),
         [](const ProcNode& node, Durable& next) -> Status {
           if (node.procedure == nullptr) return Error(Code::kFailedPrecondition, node.durable.parked);
           if (next.parked.empty()) return Error(Code::kFailedPrecondition, "it is not parked");
           if (const std::string unknown = UnknownState(*node.procedure, next); !unknown.empty()) {
             return Error(Code::kFailedPrecondition, unknown);
           }
           if (node.unfinished_children > 0 && RunsBesideChildren(next)) {
             return Error(Code::kFailedPrecondition, node.durable.parked);
           }
           if (node.missing_children) AcceptLoss(next, node.children.size());
           Unpark(next);
           return Ok();
         },
         std::move(done)});
}

void RerunProcedure(Core& core, ProcId pid, StepNo step, OperatorNote note, VerbDone done) {
  Queue(core, pid,
        {"rerun", std::move(note),
         [step, &core](const ProcNode& node, Durable& next) -> Status {
           if (node.procedure == nullptr) return Error(Code::kFailedPrecondition, node.durable.parked);
           if (node.missing_children) return Error(Code::kFailedPrecondition, node.durable.parked);
           if (node.unfinished_children > 0) return Error(Code::kFailedPrecondition, "it waits for its children");
           const StepRow* row = node.procedure->FindRow(step);
           if (row == nullptr) {
             return Error(Code::kInvalidArgument, fmt::format("{} has no state {}", node.id.type, step));
           }
           if (node.root->tree.failing) return Error(Code::kFailedPrecondition, "its tree is being undone");
           // A procedure that may not be ended must not be sent past what it waits for either, S17 (answer or fence
           // settles an order).
           if (!RATCHET_MUTANT("procedure.rerun_unsettled")) RATCHET_TRY(node.procedure->CheckBypass());
           if (!RATCHET_MUTANT("procedure.rerun_any_state")) RATCHET_TRY(MaySendTo(node, next.step, *row));
           SendTo(next, step, step == next.step ? std::nullopt : AbandonedStep(core, node, next));
           const std::string unknown = UnknownState(*node.procedure, next);  // an unknown state is then one to undo
           if (!unknown.empty())
             return Error(Code::kFailedPrecondition, unknown + ", which it would have to undo: bypass it");
           return Ok();
         },
         std::move(done)});
}

bool ApplyVerb(ExecutorLock& held, ProcNode& node) {
  while (!node.verbs.empty()) {
    VerbRequest request = std::move(node.verbs.front());
    node.verbs.erase(node.verbs.begin());
    Durable next = node.durable;
    if (const Status status = request.edit(node, next); !status.ok()) {
      held.Later([done = std::move(request.done), status] { done(status); });
      continue;
    }
    RecordVerb(next, {request.verb, request.note.who, request.note.why, held.now_ms()});
    StoreThen(held, node, std::move(next), {}, {},
              [request, before = node.durable.step](ExecutorLock& inner, ProcNode& changed) {
                if (changed.durable.step != before) ResetStep(changed);
                RATCHET_LOG(kWarn, "Operator {} by {} ({}): {}", request.verb, request.note.who, request.note.why,
                            LogForm(changed));
                Emit(inner, ActivityKind::kVerb, changed,
                     fmt::format("{} by {}: {}", request.verb, request.note.who, request.note.why));
                inner.Later([done = request.done] { done(Ok()); });
                AfterVerb(inner, changed);
              });
    return true;
  }
  return false;
}

bool EndIfBypassed(ExecutorLock& held, ProcNode& node) {
  if (!node.durable.bypassed || node.unfinished_children > 0) return false;
  LeaveEverything(held, node);
  Durable next = EndBypassed(node.durable, node.parent == nullptr, held.now_ms());
  StoreBatch batch;
  if (node.parent == nullptr) batch.deletes = DescendantsToDelete(node);
  StoreThen(held, node, std::move(next), std::move(batch), {}, [](ExecutorLock& inner, ProcNode& done) {
    std::vector<ProcId> granted;
    if (done.parent != nullptr && done.inherits_child_locks) {
      // Succeeded children of the procedure may still have to be undone, and their records say that they hold locks,
      // S16 (parent keeps child locks).
      inner->locks.HandOver(done.locks, done.parent->locks, granted);
      SetInheritsChildLocks(inner, *done.parent, true);
    } else {
      inner->locks.Release(done.locks, granted);
    }
    if (done.parent == nullptr) RemoveDescendants(inner, done);
    ResetStep(done);
    Finish(inner, done);
    inner.Ready(done);
    ReadyGranted(inner, granted);
  });
  return true;
}

namespace {

Status CanAbort(const ProcNode& root) {
  if (IsTerminal(root.durable.state))
    return Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", root.id.pid));
  if (root.durable.past_no_return) {
    return Error(Code::kFailedPrecondition, fmt::format("pid {} is past its point of no return", root.id.pid));
  }
  if (root.procedure == nullptr) return Error(Code::kFailedPrecondition, root.durable.parked);
  return Ok();
}

// `request`: without the procedures that still have to be answered.
void Ask(ExecutorLock& held, ProcId pid, AbortRequest request, std::function<void(Status)> done) {
  ProcNode* node = held->tree.Find(pid);
  Status can = node == nullptr ? Status(Error(Code::kNotFound, fmt::format("no procedure has pid {}", pid)))
                               : CanAbort(*node->root);
  if (held->halted || held->stopping) can = Error(Code::kUnavailable, "the executor has stopped");
  if (!can.ok() || node->root->tree.failing) {
    held.Later([done = std::move(done), can] { done(can); });
    return;
  }
  ProcNode& root = *node->root;
  const bool asked = root.abort.has_value();  // then both callers get the result
  const bool of_operator = !request.error.has_value();
  if (!asked) root.abort = std::move(request);
  root.abort->done.push_back(std::move(done));
  root.abort->lets_go |= of_operator && (!root.durable.parked.empty() || !root.verbs.empty());
  if (asked) return;
  if (IsBusy(root.phase)) return;  // the request is found when the root is free
  LeaveEverything(held, root);
  held.Ready(root);
}

// The deadline of a root is over: fails it with kTimeout and the class kDeadlineClass, as AbortTree does. A parked root
// stays parked, so that its undo waits for the operator.
void FailTree(Core& core, ProcId pid, Millis deadline, std::function<void(Status)> done) {
  AbortRequest request;
  request.who = "the executor";
  request.why = fmt::format("the deadline of {} ms is over", deadline.count());
  request.error = Error(Code::kTimeout, request.why, std::string(kDeadlineClass));
  ExecutorLock held(core);
  Ask(held, pid, std::move(request), std::move(done));
  held.Finish();
}

}  // namespace

void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  AbortRequest request;
  request.who = std::move(note.who);
  request.why = std::move(note.why);
  ExecutorLock held(core);
  Ask(held, pid, std::move(request), std::move(done));
  held.Finish();
}

bool ApplyAbort(ExecutorLock& held, ProcNode& root) {
  if (const Status can = CanAbort(root); !can.ok()) {
    AnswerAbort(held, root, can);
    return false;
  }
  const AbortRequest request = *std::exchange(root.abort, std::nullopt);
  const Error why =
      request.error.value_or(Error(Code::kAborted, fmt::format("aborted by {}: {}", request.who, request.why)));
  LeaveEverything(held, root);
  Durable next = FailIdle(root.durable, root.procedure->FindRow(root.durable.step), root.begun,
                          held.core().deps.store.NextSequence(), why, held.now_ms());
  AddVerb(next, {"abort", request.who, request.why, held.now_ms()});
  // An operator that aborts a parked procedure has looked at it. The undo of a state that this version does not know
  // cannot be run.
  if (request.lets_go && UnknownState(*root.procedure, next).empty()) Unpark(next);
  StoreThen(held, root, std::move(next), {}, {}, [why, request](ExecutorLock& inner, ProcNode& failed) {
    SetNextAction(failed, ForUndo{});
    for (const auto& done : request.done) inner.Later([done] { done(Ok()); });
    BeginRollback(inner, failed, why);
    inner.Ready(failed);
  });
  return true;
}

namespace {

bool HasEnded(Core& core, ProcId pid) {
  ExecutorLock held(core);
  ProcNode* const node = held->tree.Find(pid);
  if (node != nullptr) node->tree.deadline = 0;  // it has run
  const bool ended = node == nullptr || IsTerminal(node->durable.state) || node->tree.failing;
  held.Finish();
  return ended;
}

}  // namespace

void ArmDeadline(ExecutorLock& held, ProcNode& node) {
  if (node.id.deadline_ms == 0 || node.parent != nullptr || IsTerminal(node.durable.state)) return;
  if (node.tree.failing || node.tree.deadline != 0) return;
  Core& core = held.core();
  const Millis limit(static_cast<std::int64_t>(node.id.deadline_ms));
  node.tree.deadline = core.deps.timers.After(limit, [weak = core.weak_from_this(), pid = node.id.pid, limit] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr || HasEnded(*alive, pid)) return;
    FailTree(*alive, pid, limit, [pid, limit](const Status& failed) {
      if (failed.ok()) return;
      RATCHET_LOG(kWarn, "pid={} continues after its deadline of {} ms: {}", pid, limit.count(),
                  failed.error().message());
    });
  });
}

void DisarmDeadline(ExecutorLock& held, ProcNode& node) {
  if (node.tree.deadline != 0) held.core().deps.timers.Cancel(std::exchange(node.tree.deadline, 0));
}

}  // namespace ratchet::procedure
