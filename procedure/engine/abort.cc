#include "procedure/engine/abort.h"

#include <utility>

#include <fmt/format.h>

#include "procedure/engine/rollback.h"
#include "procedure/session/answers.h"
#include "procedure/session/node_commit.h"
#include "procedure/session/places.h"

namespace ratchet::procedure {
namespace {

Status CanAbort(const ProcNode& root) {
  if (IsTerminal(root.durable.state))
    return Error(Code::kFailedPrecondition, fmt::format("pid {} has finished", root.id.pid));
  if (root.durable.past_no_return) {
    return Error(Code::kFailedPrecondition, fmt::format("pid {} is behind its point of no return", root.id.pid));
  }
  if (root.procedure == nullptr) return Error(Code::kFailedPrecondition, root.durable.parked);
  return Ok();
}

}  // namespace

void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  Session session(core);
  ProcNode* node = session->tree.Find(pid);
  Status can = node == nullptr ? Status(Error(Code::kNotFound, fmt::format("no procedure has pid {}", pid)))
                               : CanAbort(*node->root);
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
  if (IsBusy(root.phase)) return;  // found when it is free
  LeaveEverything(session, root);
  session.Ready(root);
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
  // An operator that aborts what is parked has looked at it. Undo of a state that this version does not know cannot be
  // run.
  if (request.lets_go && UnknownState(*root.procedure, next).empty()) next.parked.clear();
  StoreThen(session, root, std::move(next), {}, {}, [why, request](Session& inner, ProcNode& failed) {
    SetIntent(failed, ForUndo{});
    for (const auto& done : request.done) inner.Later([done] { done(Ok()); });
    BeginRollback(inner, failed, why);
    inner.Ready(failed);
  });
  return true;
}

}  // namespace ratchet::procedure
