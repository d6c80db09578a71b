#include "procedure/engine/activity.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"

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

namespace {

constexpr Millis kGather{20};
constexpr std::size_t kMostWatches = 1'000;  // further ones are answered at once, without entries

void Answer(ExecutorLock& held, const std::shared_ptr<ActivityWatch>& watch) {
  held.core().deps.timers.Cancel(watch->timer);
  held.Later([watch, batch = held->events.After(watch->after, watch->limit)]() mutable {
    std::exchange(watch->done, nullptr)(std::move(batch));
  });
}

}  // namespace

void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done) {
  ExecutorLock held(core);
  ActivityBatch now = held->events.After(after, limit);
  const bool nothing = now.events.empty() && now.lost == 0;
  if (!nothing || patience <= Millis{0} || held->stopping || held->activity_watches.size() >= kMostWatches) {
    held.Later([done = std::move(done), now = std::move(now)]() mutable { done(std::move(now)); });
    held.Finish();
    return;
  }
  auto watch = std::make_shared<ActivityWatch>();
  watch->after = now.last;  // a larger one belongs to another executor
  watch->limit = limit;
  watch->done = std::move(done);
  held->activity_watches.push_back(watch);
  watch->timer = core.deps.timers.After(patience, [weak = core.weak_from_this(), watch] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    if (std::erase(inner->activity_watches, watch) > 0) Answer(inner, watch);
    inner.Finish();
  });
  held.Finish();
}

void ActivityAdded(ExecutorLock& held) {
  if (held->activity_watches.empty() || held->gathering_activity) return;
  held->gathering_activity = true;
  held.core().deps.timers.After(kGather, [weak = held.core().weak_from_this()] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    inner->gathering_activity = false;
    AnswerWatches(inner);
    inner.Finish();
  });
}

void AnswerWatches(ExecutorLock& held) {
  for (const auto& watch : std::exchange(held->activity_watches, {})) Answer(held, watch);
}

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
