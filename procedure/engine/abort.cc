#include "procedure/engine/abort.h"

#include <utility>

#include <fmt/format.h>

#include "procedure/api/requests.h"
#include "procedure/engine/answers.h"
#include "procedure/engine/node_commit.h"
#include "procedure/engine/queueing.h"
#include "procedure/engine/rollback.h"

namespace ratchet::procedure {
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

}  // namespace

void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  AbortRequest request;
  request.who = std::move(note.who);
  request.why = std::move(note.why);
  ExecutorLock held(core);
  Ask(held, pid, std::move(request), std::move(done));
  held.Finish();
}

void FailTree(Core& core, ProcId pid, Millis deadline, std::function<void(Status)> done) {
  AbortRequest request;
  request.who = "the executor";
  request.why = fmt::format("the deadline of {} ms is over", deadline.count());
  request.error = Error(Code::kTimeout, request.why, std::string(kDeadlineClass));
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

}  // namespace ratchet::procedure
