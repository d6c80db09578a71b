#include "procedure/views/activity.h"

#include "procedure/views/activity_watch.h"

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

void Emit(Session& session, ActivityKind kind, const ProcNode& node, StepNo step, std::string detail) {
  if (!session->events.enabled()) return;
  ActivityEntry entry{session.now_ms(), kind, node.id.pid, node.id.root, "(unknown type)", {}, std::move(detail)};
  if (node.procedure != nullptr) {
    entry.type = node.procedure->type_name();
    if (const StepRow* row = node.procedure->FindRow(step)) entry.step = row->name;
  }
  session->events.Add(std::move(entry));
  ActivityAdded(session);
}

void Emit(Session& session, ActivityKind kind, std::string detail) {
  if (!session->events.enabled()) return;
  session->events.Add({session.now_ms(), kind, ProcId(), ProcId(), {}, {}, std::move(detail)});
  ActivityAdded(session);
}

}  // namespace ratchet::procedure
