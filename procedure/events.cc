#include "procedure/events.h"

#include "procedure/event_watch.h"

namespace ratchet::procedure {

std::string_view EventName(EventKind kind) {
  switch (kind) {
    case EventKind::kSubmitted: return "submitted";
    case EventKind::kSpawned: return "spawned";
    case EventKind::kStep: return "step";
    case EventKind::kSuspended: return "suspended";
    case EventKind::kRetry: return "retry";
    case EventKind::kFailed: return "failed";
    case EventKind::kUndone: return "undone";
    case EventKind::kUndoFailed: return "undo failed";
    case EventKind::kParked: return "parked";
    case EventKind::kVerb: return "verb";
    case EventKind::kPaused: return "paused";
    case EventKind::kResumed: return "resumed";
    case EventKind::kEnded: return "ended";
  }
  return "unknown";
}

void Emit(Session& session, EventKind kind, const ProcNode& node, StepNo step, std::string detail) {
  if (!session->events.enabled()) return;
  EventEntry entry{session.now_ms(), kind, node.id.pid, node.id.root, "(unknown type)", {}, std::move(detail)};
  if (node.procedure != nullptr) {
    entry.type = node.procedure->type_name();
    if (const StepRow* row = node.procedure->FindRow(step)) entry.step = row->name;
  }
  session->events.Add(std::move(entry));
  EventAdded(session);
}

void Emit(Session& session, EventKind kind, std::string detail) {
  if (!session->events.enabled()) return;
  session->events.Add({session.now_ms(), kind, ProcId(), ProcId(), {}, {}, std::move(detail)});
  EventAdded(session);
}

}  // namespace ratchet::procedure
