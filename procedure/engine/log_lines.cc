#include "procedure/engine/log_lines.h"

#include <fmt/format.h>

#include "common/base/log.h"

namespace ratchet::procedure {
namespace {

bool Enabled(ExecutorLock& held) { return held.options().log_steps && LogEnabled(LogLevel::kInfo); }

std::string StepName(const ProcNode& node, StepNo step) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(step);
  return row == nullptr ? std::to_string(step) : std::string(row->name);
}

}  // namespace

namespace {

std::string FormWith(const ProcNode& node, const Description& about) {
  std::string text = fmt::format("pid={}", node.id.pid);
  if (node.id.parent.valid()) text += fmt::format(", ppid={}", node.id.parent);
  text += fmt::format(", state={}:{}; {}", ProcStateName(node.durable.state), StepName(node, node.durable.step),
                      node.id.type);
  if (!about.text().empty()) text.append(" ").append(about.text());
  return text;
}

}  // namespace

std::string LogForm(const ProcNode& node) {
  return FormWith(node, node.procedure == nullptr ? Description() : node.procedure->Describe());
}

void LogStart(const Core& core, const ProcNode& node) {
  if (!core.options.log_steps || !LogEnabled(LogLevel::kInfo)) return;
  RATCHET_LOG(kInfo, "Start {}", FormWith(node, node.procedure->DescribeStart(core.deps.env)));
}

void LogSpawned(ExecutorLock& held, const ProcNode& parent, const std::vector<ProcNode*>& children) {
  if (!Enabled(held)) return;
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < children.size() && i < kShown; ++i) {
    list += fmt::format("{}{{{}}}", i == 0 ? "" : ", ", LogForm(*children[i]));
  }
  if (children.size() > kShown) list += fmt::format(", ... {} in all", children.size());
  RATCHET_LOG(kInfo, "Initialized subprocedures=[{}]; {}", list, LogForm(parent));
}

void LogRetry(ExecutorLock& held, const ProcNode& node, Millis delay) {
  if (!held.options().log_steps) return;
  RATCHET_LOG(kWarn, "Retry attempt={}, in={}ms, {}; {}", node.attempt, delay.count(), LogForm(node),
              node.last_error ? node.last_error->ToString() : "");
}

void LogFailed(ExecutorLock& held, const ProcNode& node, const Error& error) {
  if (!held.options().log_steps) return;
  RATCHET_LOG(kWarn, "Failed {}; {}", LogForm(node), error.ToString());
}

void LogParked(ExecutorLock& held, const ProcNode& node) {
  if (!held.options().log_steps) return;
  RATCHET_LOG(kError, "Parked {}; {}", LogForm(node), node.durable.parked);
}

void LogUndone(ExecutorLock& held, const ProcNode& node, StepNo step, const Error* error) {
  if (!held.options().log_steps) return;
  if (error == nullptr) {
    RATCHET_LOG(kInfo, "Undone step={}, {}", StepName(node, step), LogForm(node));
  } else {
    RATCHET_LOG(kWarn, "Undo of step={} failed, attempt={}, {}; {}", StepName(node, step), node.attempt, LogForm(node),
                error->ToString());
  }
}

void LogFinished(ExecutorLock& held, const ProcNode& node, std::int64_t took_ms) {
  if (Enabled(held)) {
    RATCHET_LOG(kInfo, "Finish {} in {} ms{}", LogForm(node), took_ms,
                node.durable.error ? "; " + node.durable.error->ToString() : "");
  }
}

}  // namespace ratchet::procedure
