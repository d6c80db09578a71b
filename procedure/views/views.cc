#include "procedure/views/views.h"

#include <algorithm>

#include "procedure/record/identity.h"
#include "procedure/session/pause_cover.h"
#include "procedure/session/waiting.h"

namespace ratchet::procedure {
namespace {

void Describe(Session& session, const ProcNode& node, ProcedureInfo& info) {
  if (node.procedure == nullptr) return;
  const auto describe = [&info](const Procedure& procedure) {
    info.description = procedure.Describe();
    info.parts = procedure.Parts();
  };
  if (!IsBusy(node.phase)) return describe(*node.procedure);
  // Its object belongs to a worker at the moment: a copy of the durable state tells.
  const ProcedurePtr copy = MakeFromRecord(session.core().deps.registry, node.id, node.durable.data);
  if (copy != nullptr) describe(*copy);
}

std::optional<Millis> NextTry(Session& session, const ProcNode& node) {
  const Wait* wait = WaitIn(node.intent);
  if (wait == nullptr || wait->timer == 0) return std::nullopt;
  const auto left = std::chrono::duration_cast<Millis>(wait->due - session.core().deps.clock.Now());
  return std::max(left, Millis{0});
}

}  // namespace

std::vector<ProcId> RunningIn(Session& session, const RunQueue* queue) {
  std::vector<ProcId> pids;
  for (const ProcNode* node : session->running) {
    if (node->sched.queue == queue) pids.push_back(node->id.pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

const ProcNode* NextToBeUndone(const ProcNode& node) {
  const auto& tree = node.root->tree;
  if (!tree.failing || !tree.prepared || tree.undo.empty() || tree.undo.back().second == &node) return nullptr;
  return tree.undo.back().second;
}

WaitingOn WaitingOf(Session& session, const ProcNode& node) {
  using Kind = WaitingOn::Kind;
  WaitingOn on;
  if (node.phase == Phase::kCommitting) on.kind = Kind::kCommit;
  if (node.phase == Phase::kQueued) {
    on.detail = Scheduler::HeldBack(node.sched);
    if (!on.detail.empty()) {
      on.kind = Kind::kLimit;
      on.procedures = RunningIn(session, node.sched.queue);
    }
  }
  if (node.phase == Phase::kLockLine) {
    const LockManager::Blocked blocked = session->locks.BlockedBy(node.locks);
    on.kind = Kind::kLock;
    on.detail = blocked.key.ToString();
    on.procedures = blocked.holders.empty() ? blocked.ahead : blocked.holders;
  }
  if (node.phase != Phase::kWaiting) return on;
  if (!node.durable.parked.empty() || node.want() == Want::kOperator) {
    on.kind = Kind::kOperator;
    on.detail = node.durable.parked;
    return on;
  }
  if (node.held) {
    on.kind = Kind::kPaused;
    if (const PauseInfo* pause = PausedBy(session, node)) on.detail = pause->ToString();
    return on;
  }
  on.next_try_in = NextTry(session, node);
  if (IsWaiting(node) && node.root->tree.failing) {
    on.kind = Kind::kRetry;  // of an undo, also of a member that has succeeded
    return on;
  }
  switch (node.want()) {
    case Want::kChildren:
      on.kind = Kind::kChildren;
      for (const ProcNode* child : node.children) {
        if (!IsTerminal(child->durable.state)) on.procedures.push_back(child->id.pid);
      }
      break;
    case Want::kEvent: on.kind = Kind::kEvent; break;
    case Want::kOnce:
      on.kind = node.once != nullptr ? Kind::kOnce : Kind::kEvent;
      if (node.once != nullptr) on.detail = node.once->Pending();
      break;
    case Want::kRetry: on.kind = Kind::kRetry; break;
    case Want::kUndo:
      on.kind = Kind::kSiblings;
      if (const ProcNode* next = NextToBeUndone(node)) on.procedures.push_back(next->id.pid);
      break;
    case Want::kRun:
    case Want::kRunAgain:
    case Want::kOperator:
    case Want::kFinished: break;
  }
  return on;
}

Result<std::uint32_t> AwaitedAttemptOf(Session& session, ProcId pid) {
  const ProcNode* node = session->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state)) {
    return Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid));
  }
  const ProcedurePtr copy = MakeFromRecord(session.core().deps.registry, node->id, node->durable.data);
  if (copy == nullptr) {
    return Error(Code::kUnsupported,
                 fmt::format("pid {} of type {} cannot be read by this version", pid, node->id.type));
  }
  if (const auto attempt = copy->AwaitedAttempt()) return *attempt;
  return Error(Code::kFailedPrecondition, fmt::format("pid {} ({}) asks nothing of others", pid, node->id.type));
}

ProcedureInfo InfoOf(Session& session, const ProcNode& node) {
  ProcedureInfo info;
  const Durable& durable = node.durable;
  info.pid = node.id.pid;
  info.parent = node.id.parent;
  info.root = node.id.root;
  info.type = node.id.type;
  Describe(session, node, info);
  info.owner = node.id.owner;
  info.state = durable.state;
  info.step = durable.step;
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(durable.step);
  info.step_name = row == nullptr ? std::to_string(durable.step) : std::string(row->name);
  info.past_no_return = node.root != nullptr && node.root->durable.past_no_return;
  info.failing = node.root != nullptr && node.root->tree.failing;
  info.submitted_ms = node.id.submitted_ms;
  info.updated_ms = durable.updated_ms;
  info.version = durable.version;
  info.attempt = node.attempt;
  info.last_error = node.last_error;
  info.error = durable.error;
  info.result = durable.result;
  info.parked = durable.parked;
  info.bypassed = durable.bypassed;
  info.verbs = durable.verbs;
  if (const PauseInfo* pause = PausedBy(session, node); pause != nullptr && !IsTerminal(durable.state)) {
    info.paused = pause->ToString();
  }
  info.running = node.phase == Phase::kRunning;
  info.waiting = WaitingOf(session, node);
  for (const LockRequest& lock : LockManager::Held(node.locks)) info.locks.push_back({lock.key, lock.mode});
  info.undo = durable.undo;
  info.data = durable.data;
  info.nonce_group = node.id.nonce_group;
  info.nonce = node.id.nonce;
  return info;
}

ProcedureResult ResultOf(const ProcNode& node) {
  ProcedureResult result;
  result.submitted_ms = node.id.submitted_ms;
  if (node.want() != Want::kFinished || !IsTerminal(node.durable.state)) {
    result.status = ProcedureResult::Status::kRunning;
    return result;
  }
  result.finished_ms = node.durable.updated_ms;
  if (node.durable.state == ProcState::kSuccess) {
    result.status = ProcedureResult::Status::kSuccess;
    result.result = node.durable.result;
  } else {
    result.status = ProcedureResult::Status::kFailed;
    result.error = node.durable.error ? *node.durable.error : Error(Code::kInternal, "failed for an unknown reason");
  }
  return result;
}

std::vector<LimitInfo> LimitsOf(Session& session) {
  std::vector<LimitInfo> all;
  for (const Scheduler::Limited& limited : session->scheduler.AtTheirLimit()) {
    LimitInfo& info = all.emplace_back(LimitInfo{limited.key, limited.limit, RunningIn(session, limited.queue), {}});
    for (const SchedItem* item : limited.waiting)
      info.waiting.push_back(static_cast<const ProcNode*>(item->owner)->id.pid);
  }
  std::sort(all.begin(), all.end(), [](const LimitInfo& a, const LimitInfo& b) { return a.key < b.key; });
  return all;
}

std::vector<StepHistoryEntry> HistoryOf(const ProcNode& node) {
  std::vector<StepHistoryEntry> history = node.durable.history.Entries();
  for (StepHistoryEntry& entry : history) {
    const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(entry.step);
    entry.step_name = row == nullptr ? std::to_string(entry.step) : std::string(row->name);
  }
  return history;
}

}  // namespace ratchet::procedure
