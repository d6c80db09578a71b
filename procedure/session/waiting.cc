#include "procedure/session/waiting.h"

#include <memory>
#include <utility>

namespace ratchet::procedure {
namespace {

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

}  // namespace

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
    if (!session->waits.Wait(node.id.pid, ticket)) return false;
  }
  node.armed = true;
  if (node.delay) StartTimer(session, node, *node.delay);
  return true;
}

void WaitForBackoff(Session& session, ProcNode& node) {
  ProcedureTree::SetPhase(node, Phase::kWaiting);
  node.armed = true;
  StartTimer(session, node, *node.delay);
}

bool EndWait(Session& session, ProcNode& node, bool timed_out) {
  if (!node.armed) return false;
  Disarm(session, node);
  node.timed_out = timed_out;
  if (IsBusy(node.phase)) {
    node.woken = true;  // a report is being folded; Arm sees it
    return true;
  }
  ProcedureTree::SetPhase(node, Phase::kFree);
  if (node.undoing) {
    node.undoing = false;
    ProcedureTree::SetPhase(node, Phase::kWaiting);
    session.ReadyUndo(*node.root);
    return true;
  }
  node.want = Want::kRun;
  session.Ready(node);
  return true;
}

void WakeOnce(Core& core, ProcId pid) {
  Session session(core);
  if (session->stopping || session->halted) return;
  ProcNode* node = session->tree.Find(pid);
  // A node that runs or is about to park compares the arrivals when it parks.
  if (node != nullptr && node->want == Want::kOnce && node->armed) EndWait(session, *node, /*timed_out=*/false);
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

}  // namespace ratchet::procedure
