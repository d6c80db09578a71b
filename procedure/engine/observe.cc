#include "procedure/engine/observe.h"

#include <algorithm>

#include "procedure/core/author_object.h"
#include "procedure/engine/pause_cover.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

void Describe(const HeldState& held, const ProcNode& node, ProcedureInfo& info) {
  if (node.procedure == nullptr) return;
  const auto describe = [&info](const Procedure& procedure) {
    info.description = procedure.Describe();
    info.parts = procedure.Parts();
  };
  if (!IsBusy(node.phase)) return describe(*node.procedure);
  // A worker may own its object now, so this uses a copy made from the durable state.
  const ProcedurePtr copy = MakeFromRecord(held.core().deps.registry, node.id, node.durable.data);
  if (copy != nullptr) describe(*copy);
}

std::optional<Millis> NextTry(const HeldState& held, const ProcNode& node) {
  const Wait* wait = WaitIn(node.next_action);
  if (wait == nullptr || wait->timer == 0) return std::nullopt;
  const auto left = std::chrono::duration_cast<Millis>(wait->due - held.core().deps.clock.Now());
  return std::max(left, Millis{0});
}

}  // namespace

std::vector<ProcId> RunningIn(const HeldState& held, const RunQueue* queue) {
  std::vector<ProcId> pids;
  for (const auto* list : {&held->running, &held->staying}) {
    for (const ProcNode* node : *list) {
      if (node->sched.queue == queue) pids.push_back(node->id.pid);
    }
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

namespace {

// Describes the wait of a member of a failing tree whose undo has not begun, or is over: it waits for what keeps the
// rollback from its next part.
WaitingOn WaitOfFailingTree(const HeldState& held, const ProcNode& node) {
  const ProcNode& root = *node.root;
  WaitingOn on;
  on.kind = WaitingOn::Kind::kSiblings;
  for (const auto* list : {&held->running, &held->staying}) {
    for (const ProcNode* member : *list) {
      if (member->root == &root) on.procedures.push_back(member->id.pid);
    }
  }
  std::sort(on.procedures.begin(), on.procedures.end());
  if (!on.procedures.empty()) {
    on.detail = "after the step in progress of";
  } else if (root.tree.busy > 0) {
    on.kind = WaitingOn::Kind::kCommit;  // of a member, or of the end of the tree
  } else if (root.tree.incomplete > 0 && &root != &node) {
    on.procedures.push_back(root.id.pid);  // parked: records of the tree are missing
  }
  return on;
}

}  // namespace

const ProcNode* NextToBeUndone(const ProcNode& node) {
  const auto& tree = node.root->tree;
  if (!tree.failing || !tree.prepared || tree.undo.empty() || tree.undo.back().second == &node) return nullptr;
  return tree.undo.back().second;
}

WaitingOn WaitingOf(const HeldState& held, const ProcNode& node) {
  using Kind = WaitingOn::Kind;
  WaitingOn on;
  if (node.phase == Phase::kCommitting) on.kind = Kind::kCommit;
  if (node.phase == Phase::kQueued) {
    on.detail = Scheduler::HeldBack(node.sched);
    if (!on.detail.empty()) {
      on.kind = Kind::kLimit;
      on.procedures = RunningIn(held, node.sched.queue);
    }
  }
  if (node.phase == Phase::kLockLine) {
    const LockManager::Blocked blocked = held->locks.BlockedBy(node.locks);
    on.kind = Kind::kLock;
    on.detail = blocked.key.ToString();
    on.procedures = blocked.holders.empty() ? blocked.ahead : blocked.holders;
  }
  if (node.stays) {
    on.kind = Kind::kAsync;
    on.detail = node.async_results->Pending();
    on.own = true;
    return on;
  }
  const bool folding = node.work == NodeWork::kFold;  // a report: it waits as before
  if (node.phase != Phase::kWaiting && !folding) return on;
  if (!node.durable.parked.empty() || node.next_kind() == NextActionKind::kOperator) {
    on.kind = Kind::kOperator;
    on.detail = node.durable.parked;
    return on;
  }
  if (node.held) {
    on.kind = Kind::kPaused;
    if (const PauseInfo* pause = PausedBy(held, node)) on.detail = pause->ToString();
    return on;
  }
  const ProcNode::Tree& tree = node.root->tree;
  if (tree.failing && (!tree.prepared || tree.concluding)) return WaitOfFailingTree(held, node);
  on.next_try_in = NextTry(held, node);
  if (IsWaiting(node) && tree.failing) {
    on.kind = Kind::kRetry;  // for an undo, also of a member that has succeeded
    return on;
  }
  switch (node.next_kind()) {
    case NextActionKind::kChildren:
      on.kind = Kind::kChildren;
      for (const ProcNode* child : node.children) {
        if (!IsTerminal(child->durable.state)) on.procedures.push_back(child->id.pid);
      }
      break;
    case NextActionKind::kEvent:
      on.kind = Kind::kEvent;
      on.detail = held->waits.EventOf(node.id.pid);
      break;
    case NextActionKind::kAsync:
      on.kind = node.async_results != nullptr ? Kind::kAsync : Kind::kEvent;
      if (node.async_results != nullptr) on.detail = node.async_results->Pending();
      break;
    case NextActionKind::kRetry: on.kind = Kind::kRetry; break;
    case NextActionKind::kUndo:
      on.kind = Kind::kSiblings;
      if (const ProcNode* next = NextToBeUndone(node)) on.procedures.push_back(next->id.pid);
      break;
    case NextActionKind::kRun:
    case NextActionKind::kRunAgain:
    case NextActionKind::kOperator:
    case NextActionKind::kFinished: break;
  }
  return on;
}

Result<std::uint32_t> AwaitedAttemptOf(const HeldState& held, ProcId pid) {
  const ProcNode* node = held->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state)) {
    return Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid));
  }
  const ProcedurePtr copy = MakeFromRecord(held.core().deps.registry, node->id, node->durable.data);
  if (copy == nullptr) {
    return Error(Code::kUnsupported,
                 fmt::format("pid {} of type {} cannot be read by this version", pid, node->id.type));
  }
  if (const auto attempt = copy->AwaitedAttempt()) return *attempt;
  return Error(Code::kFailedPrecondition, fmt::format("pid {} ({}) accepts no reports", pid, node->id.type));
}

ProcedureInfo InfoOf(const HeldState& held, const ProcNode& node) {
  ProcedureInfo info;
  const Durable& durable = node.durable;
  info.pid = node.id.pid;
  info.parent = node.id.parent;
  info.root = node.id.root;
  info.type = node.id.type;
  Describe(held, node, info);
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
  if (const PauseInfo* pause = PausedBy(held, node); pause != nullptr && !IsTerminal(durable.state)) {
    info.paused = pause->ToString();
  }
  info.running = node.in_step() && !node.stays;
  info.waiting = WaitingOf(held, node);
  for (const LockRequest& lock : LockManager::Held(node.locks)) info.locks.push_back({lock.key, lock.mode});
  info.undo = durable.undo;
  info.history_dropped = durable.history_dropped;
  info.history_first = durable.history_first;
  info.data = durable.data;
  info.nonce_group = node.id.nonce_group;
  info.nonce = node.id.nonce;
  info.deadline_ms = node.id.deadline_ms;
  return info;
}

ProcedureResult ResultOf(const ProcNode& node) {
  ProcedureResult result;
  result.submitted_ms = node.id.submitted_ms;
  if (node.next_kind() != NextActionKind::kFinished || !IsTerminal(node.durable.state)) {
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

std::vector<LimitInfo> LimitsOf(const HeldState& held) {
  std::vector<LimitInfo> all;
  for (const Scheduler::Limited& limited : held->scheduler.AtTheirLimit()) {
    LimitInfo& info = all.emplace_back(LimitInfo{limited.key, limited.limit, RunningIn(held, limited.queue), {}});
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
