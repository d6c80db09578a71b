#include "procedure/views/log_lines.h"

#include <fmt/format.h>

#include "common/base/log.h"

namespace ratchet::procedure {
namespace {

bool Enabled(Session& session) { return session.options().log_steps && LogEnabled(LogLevel::kInfo); }

std::string StepName(const ProcNode& node, StepNo step) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(step);
  return row == nullptr ? std::to_string(step) : std::string(row->name);
}

}  // namespace

std::string LogForm(const ProcNode& node) {
  std::string text = fmt::format("pid={}", node.id.pid);
  if (node.id.parent.valid()) text += fmt::format(", ppid={}", node.id.parent);
  text += fmt::format(", state={}:{}; {}", ProcStateName(node.durable.state), StepName(node, node.durable.step),
                      node.id.type);
  if (node.procedure != nullptr) {
    if (std::string about = node.procedure->Describe(); !about.empty()) text.append(" ").append(about);
  }
  return text;
}

void LogStart(Session& session, const ProcNode& node) {
  if (Enabled(session)) RATCHET_LOG(kInfo, "Start {}", LogForm(node));
}

void LogSpawned(Session& session, const ProcNode& parent, const std::vector<ProcId>& children) {
  if (!Enabled(session)) return;
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < children.size() && i < kShown; ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", children[i]);
  }
  if (children.size() > kShown) list += fmt::format(", ... {} in all", children.size());
  RATCHET_LOG(kInfo, "Initialized subprocedures=[{}]; {}", list, LogForm(parent));
}

void LogRetry(Session& session, const ProcNode& node, Millis delay) {
  if (!session.options().log_steps) return;
  RATCHET_LOG(kWarn, "Retry attempt={}, in={}ms, {}; {}", node.attempt, delay.count(), LogForm(node),
              node.last_error ? node.last_error->ToString() : "");
}

void LogFailed(Session& session, const ProcNode& node, const Error& error) {
  if (!session.options().log_steps) return;
  RATCHET_LOG(kWarn, "Failed {}; {}", LogForm(node), error.ToString());
}

void LogParked(Session& session, const ProcNode& node) {
  if (!session.options().log_steps) return;
  RATCHET_LOG(kError, "Parked {}; {}", LogForm(node), node.durable.parked);
}

void LogUndone(Session& session, const ProcNode& node, StepNo step, const Error* error) {
  if (!session.options().log_steps) return;
  if (error == nullptr) {
    RATCHET_LOG(kInfo, "Undone step={}, {}", StepName(node, step), LogForm(node));
  } else {
    RATCHET_LOG(kWarn, "Undo of step={} failed, attempt={}, {}; {}", StepName(node, step), node.attempt, LogForm(node),
                error->ToString());
  }
}

void LogFinished(Session& session, const ProcNode& node, std::int64_t took_ms) {
  if (Enabled(session)) {
    RATCHET_LOG(kInfo, "Finish {} in {} ms{}", LogForm(node), took_ms,
                node.durable.error ? "; " + node.durable.error->ToString() : "");
  }
}

}  // namespace ratchet::procedure
