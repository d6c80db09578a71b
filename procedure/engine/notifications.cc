#include "procedure/engine/notifications.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "procedure/core/author_object.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/log_lines.h"
#include "procedure/engine/observe.h"

namespace ratchet::procedure {
namespace {

// A hook sees a copy of the recorded state: the object itself may be in its next step, or gone.
template <class Hook>
void NotifyHook(ExecutorLock& held, const ProcNode& node, Hook hook) {
  if (node.procedure == nullptr || !node.procedure->HasHooks()) return;
  held.Notify(node.id.type,
              [&registry = held.core().deps.registry, id = node.id, data = node.durable.data, hook = std::move(hook)] {
                if (const ProcedurePtr copy = MakeFromRecord(registry, id, data)) hook(*copy);
              });
}

void NotifyAdded(ExecutorLock& held, const ProcNode& node) {
  for (const auto& each : held->listeners) {
    held.Notify(node.id.type, [each, info = InfoOf(held, node)] {
      if (!each->removed.load()) each->listener->OnAdded(info);
    });
  }
}

}  // namespace

void NoteAdded(ExecutorLock& held, const ProcNode& node) {
  Emit(held, node.parent == nullptr ? ActivityKind::kSubmitted : ActivityKind::kSpawned, node);
  held->metrics.Submitted(node.id.type);
  NotifyHook(held, node, [](const Procedure& copy) { copy.OnSubmitted(); });
  NotifyAdded(held, node);
}

void NoteLoaded(ExecutorLock& held, const ProcNode& node) { NotifyAdded(held, node); }

void NoteEnded(ExecutorLock& held, ProcNode& node) {
  const bool success = node.durable.state == ProcState::kSuccess;
  const std::int64_t took = held.now_ms() - node.id.submitted_ms;
  held->metrics.Finished(node.id.type, success, took);
  LogFinished(held, node, took);
  Emit(held, ActivityKind::kEnded, node,
       success              ? "success"
       : node.durable.error ? node.durable.error->ToString()
                            : "failed");
  NotifyHook(held, node, [success, took, error = node.durable.error](const Procedure& copy) {
    copy.OnFinished({success, error ? &*error : nullptr, std::chrono::milliseconds(took)});
  });
  if (!held->listeners.empty()) {
    const auto info = std::make_shared<ProcedureInfo>(InfoOf(held, node));
    info->history = HistoryOf(node);
    for (const auto& each : held->listeners) {
      held.Notify(node.id.type, [each, info] {
        if (!each->removed.load()) each->listener->OnFinished(*info);
      });
    }
  }
  for (auto& waiter : std::exchange(node.finish_waiters, {})) {
    held.Later([waiter = std::move(waiter), result = ResultOf(node)]() mutable { waiter(std::move(result)); });
  }
}

}  // namespace ratchet::procedure
