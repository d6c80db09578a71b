#include "procedure/engine/activity.h"

#include "procedure/engine/activity_watch.h"

namespace ratchet::procedure {

std::string_view ActivityName(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kSubmitted: return "submitted";
    case ActivityKind::kSpawned: return "spawned";
    case ActivityKind::kStep: return "step";
    case ActivityKind::kSuspended: return "suspended";
    case ActivityKind::kRetry: return "retry";
    case ActivityKind::kFailed: return "failed";
    case ActivityKind::kUndone: return "undone";
    case ActivityKind::kUndoFailed: return "undo failed";
    case ActivityKind::kParked: return "parked";
    case ActivityKind::kVerb: return "verb";
    case ActivityKind::kPaused: return "paused";
    case ActivityKind::kResumed: return "resumed";
    case ActivityKind::kEnded: return "ended";
  }
  return "unknown";
}

void Emit(ExecutorLock& held, ActivityKind kind, const ProcNode& node, StepNo step, std::string detail) {
  if (!held->events.enabled()) return;
  ActivityEntry entry{held.now_ms(), kind, node.id.pid, node.id.root, "(unknown type)", {}, std::move(detail)};
  if (node.procedure != nullptr) {
    entry.type = node.procedure->type_name();
    if (const StepRow* row = node.procedure->FindRow(step)) entry.step = row->name;
  }
  held->events.Add(std::move(entry));
  ActivityAdded(held);
}

void Emit(ExecutorLock& held, ActivityKind kind, std::string detail) {
  if (!held->events.enabled()) return;
  held->events.Add({held.now_ms(), kind, ProcId(), ProcId(), {}, {}, std::move(detail)});
  ActivityAdded(held);
}

}  // namespace ratchet::procedure
