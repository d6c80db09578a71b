#include "procedure/engine/deadline.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/api/proc_state.h"
#include "procedure/engine/abort.h"

namespace ratchet::procedure {
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
