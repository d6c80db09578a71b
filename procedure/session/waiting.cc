#include "procedure/session/waiting.h"

#include <memory>
#include <utility>

namespace ratchet::procedure {
namespace {

void StartTimer(Session& session, ProcNode& node, Wait& wait) {
  Core& core = session.core();
  const std::uint64_t serial = ++node.timer_serial;
  wait.due = core.deps.clock.Now() + *wait.limit;
  wait.timer = core.deps.timers.After(*wait.limit, [weak = core.weak_from_this(), pid = node.id.pid, serial] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    Session inner(*alive);
    if (inner->stopping || inner->halted) return;
    ProcNode* found = inner->tree.Find(pid);
    if (found == nullptr || found->timer_serial != serial || !IsWaiting(*found)) return;
    WaitIn(found->intent)->timer = 0;
    EndWait(inner, *found, /*timed_out=*/found->want() == Want::kEvent || found->want() == Want::kOnce);
  });
}

// Out of the wait table, without a timer.
void Stop(Session& session, ProcNode& node, Wait& wait) {
  session->waits.Leave(node.id.pid);
  if (wait.timer != 0) session.core().deps.timers.Cancel(std::exchange(wait.timer, 0));
  ++node.timer_serial;
}

}  // namespace

bool IsWaiting(const ProcNode& node) {
  const Wait* wait = WaitIn(node.intent);
  return wait != nullptr && wait->stage == Wait::Stage::kUnderWay;
}

bool BeginWait(Session& session, ProcNode& node) {
  Wait& wait = *WaitIn(node.intent);
  if (wait.stage == Wait::Stage::kOver) return false;
  if (wait.stage == Wait::Stage::kUnderWay) return true;  // it was only interrupted by a report
  if (const auto* once = std::get_if<ForOnce>(&node.intent);
      once != nullptr && node.once != nullptr && node.once->arrivals() != once->arrivals) {
    return false;
  }
  if (wait.ticket) {
    const WaitTicket ticket = *std::exchange(wait.ticket, std::nullopt);
    if (!session->waits.Wait(node.id.pid, ticket)) return false;
  }
  wait.stage = Wait::Stage::kUnderWay;
  if (wait.limit) StartTimer(session, node, wait);
  return true;
}

void WaitForBackoff(Session& session, ProcNode& node, Millis delay) {
  ProcedureTree::SetPhase(node, Phase::kWaiting);
  Wait wait;
  wait.limit = delay;
  wait.stage = Wait::Stage::kUnderWay;
  if (auto* undo = std::get_if<ForUndo>(&node.intent)) {
    StartTimer(session, node, undo->backoff.emplace(wait));
  } else {
    StartTimer(session, node, std::get<Ended>(node.intent).backoff.emplace(wait));
  }
}

bool EndWait(Session& session, ProcNode& node, bool timed_out) {
  if (!IsWaiting(node)) return false;
  Wait& wait = *WaitIn(node.intent);
  Stop(session, node, wait);
  wait.stage = Wait::Stage::kOver;
  node.timed_out = timed_out;
  if (IsBusy(node.phase)) return true;  // a report is being folded, or a verb stored; BeginWait sees it
  ProcedureTree::SetPhase(node, Phase::kFree);
  if (node.undoing) {
    node.undoing = false;
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    session.ReadyUndo(*node.root);
    return true;
  }
  SetIntent(node, ToRun{});
  session.Ready(node);
  return true;
}

void WakeOnce(Core& core, ProcId pid) {
  Session session(core);
  if (session->stopping || session->halted) return;
  ProcNode* node = session->tree.Find(pid);
  // A node that runs or is about to wait compares the arrivals when the wait begins.
  if (node != nullptr && node->want() == Want::kOnce && IsWaiting(*node)) EndWait(session, *node, /*timed_out=*/false);
}

void CutWaitShort(Session& session, ProcNode& node) {
  if (node.want() != Want::kEvent && node.want() != Want::kOnce && node.want() != Want::kRetry) return;
  LeaveWait(session, node);
  node.timed_out = false;  // what ends the wait was there before the time was up
  SetIntent(node, ToRun{});
}

void LeaveWait(Session& session, ProcNode& node) {
  Wait* wait = WaitIn(node.intent);
  if (wait == nullptr) return;
  if (wait->stage == Wait::Stage::kUnderWay) Stop(session, node, *wait);
  wait->stage = Wait::Stage::kToBegin;
  if (wait->ticket) session->waits.Drop(*std::exchange(wait->ticket, std::nullopt));
}

}  // namespace ratchet::procedure
