#include "procedure/views/notices.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "procedure/record/identity.h"
#include "procedure/views/activity.h"
#include "procedure/views/log_lines.h"
#include "procedure/views/views.h"

namespace ratchet::procedure {
namespace {

// A hook sees a copy of what is on record: the object itself may be in its next step, or gone.
template <class Hook>
void TellHook(Session& session, const ProcNode& node, Hook hook) {
  if (node.procedure == nullptr || !node.procedure->HasHooks()) return;
  session.Tell(node.id.type, [&registry = session.core().deps.registry, id = node.id, data = node.durable.data,
                              hook = std::move(hook)] {
    if (const ProcedurePtr copy = MakeFromRecord(registry, id, data)) hook(*copy);
  });
}

void TellAdded(Session& session, const ProcNode& node) {
  for (const auto& listener : session.core().listeners) {
    session.Tell(node.id.type, [listener, info = InfoOf(session, node)] { listener->OnAdded(info); });
  }
}

}  // namespace

void NoteAdded(Session& session, const ProcNode& node) {
  Emit(session, node.parent == nullptr ? ActivityKind::kSubmitted : ActivityKind::kSpawned, node);
  session->metrics.Submitted(node.id.type);
  TellHook(session, node, [](const Procedure& copy) { copy.OnSubmitted(); });
  TellAdded(session, node);
}

void NoteLoaded(Session& session, const ProcNode& node) { TellAdded(session, node); }

void NoteEnded(Session& session, ProcNode& node) {
  const bool success = node.durable.state == ProcState::kSuccess;
  const std::int64_t took = session.now_ms() - node.id.submitted_ms;
  session->metrics.Finished(node.id.type, success, took);
  LogFinished(session, node, took);
  Emit(session, ActivityKind::kEnded, node,
       success              ? "success"
       : node.durable.error ? node.durable.error->ToString()
                            : "failed");
  TellHook(session, node, [success, took, error = node.durable.error](const Procedure& copy) {
    copy.OnFinished({success, error ? &*error : nullptr, std::chrono::milliseconds(took)});
  });
  if (!session.core().listeners.empty()) {
    const auto info = std::make_shared<ProcedureInfo>(InfoOf(session, node));
    info->history = HistoryOf(node);
    for (const auto& listener : session.core().listeners)
      session.Tell(node.id.type, [listener, info] { listener->OnFinished(*info); });
  }
  for (auto& waiter : std::exchange(node.finish_waiters, {})) {
    session.Later([waiter = std::move(waiter), result = ResultOf(node)]() mutable { waiter(std::move(result)); });
  }
}

}  // namespace ratchet::procedure
