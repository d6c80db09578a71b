#include "procedure/engine/observe.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/api/scheduling_class.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/activity.h"
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
  info.peer = node.id.peer;
  info.method = node.id.method;
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

// The wait-for graph and its cycles.

namespace {

// Finds the cycles in the graph, each once, rotated so that its lowest pid comes first. Depth first with an explicit
// stack.
class CycleFinder {
 public:
  explicit CycleFinder(const std::vector<WaitEdge>& edges) {
    for (const WaitEdge& edge : edges) targets_[edge.from].push_back(edge.to);
  }

  std::vector<std::vector<ProcId>> Find() {
    for (const auto& [from, to] : targets_) {
      if (!done_.contains(from)) Walk(from);
    }
    return {cycles_.begin(), cycles_.end()};
  }

 private:
  struct Frame {
    ProcId pid;
    std::size_t next = 0;
  };

  void Walk(ProcId start) {
    std::vector<Frame> path{{start}};
    on_path_.insert(start);
    while (!path.empty()) {
      Frame& top = path.back();
      const auto found = targets_.find(top.pid);
      if (found == targets_.end() || top.next == found->second.size()) {
        on_path_.erase(top.pid);
        done_.insert(top.pid);
        path.pop_back();
        continue;
      }
      const ProcId to = found->second[top.next++];
      if (on_path_.contains(to)) {
        AddCycle(path, to);
      } else if (!done_.contains(to)) {
        on_path_.insert(to);
        path.push_back({to});
      }
    }
  }

  void AddCycle(const std::vector<Frame>& path, ProcId first) {
    std::vector<ProcId> cycle;
    const auto begin =
        std::find_if(path.begin(), path.end(), [first](const Frame& frame) { return frame.pid == first; });
    for (auto it = begin; it != path.end(); ++it) cycle.push_back(it->pid);
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    cycles_.insert(std::move(cycle));
  }

  std::map<ProcId, std::vector<ProcId>> targets_;
  std::set<ProcId> done_;
  std::set<ProcId> on_path_;
  std::set<std::vector<ProcId>> cycles_;
};

void AddLockEdges(const HeldState& held, const ProcNode& node, std::vector<WaitEdge>& edges) {
  const LockManager::Blocked blocked = held->locks.BlockedBy(node.locks);
  for (const ProcId holder : blocked.holders) {
    edges.push_back({node.id.pid, holder, "lock " + blocked.key.ToString()});
  }
  for (const ProcId ahead : blocked.ahead) {
    edges.push_back({node.id.pid, ahead, "behind in the queue for " + blocked.key.ToString()});
  }
}

// A parked procedure counts as waiting too: it continues to wait after an unpark, and a cycle that forms meanwhile must
// be detected.
bool WaitsForChildren(const ProcNode& node) {
  if (node.next_kind() == NextActionKind::kOperator)
    return node.durable.state == ProcState::kWaiting && !node.root->tree.failing;
  return node.next_kind() == NextActionKind::kChildren;
}

// Adds one edge per limit: with many waiters each would otherwise name every procedure that runs. The targets run, so
// they cannot be part of a cycle.
void AddLimitEdge(const HeldState& held, const ProcNode& node, std::vector<WaitEdge>& edges) {
  const WaitingOn on = WaitingOf(held, node);
  if (on.kind == WaitingOn::Kind::kLimit && !on.procedures.empty()) {
    const SchedulingPlace place = PlaceOf(*node.procedure, held.options().system_tables);
    edges.push_back({node.id.pid, on.procedures.front(), "limit of " + place.queue.ToString()});
  }
}

void AddTreeEdges(const ProcNode& node, std::vector<WaitEdge>& edges) {
  if (WaitsForChildren(node)) {
    for (const ProcNode* child : node.children) {
      if (!IsTerminal(child->durable.state)) edges.push_back({node.id.pid, child->id.pid, "child"});
    }
  } else if (const ProcNode* next = NextToBeUndone(node);
             node.next_kind() == NextActionKind::kUndo && next != nullptr) {
    edges.push_back({node.id.pid, next->id.pid, "undo"});
  }
}

// A step in progress holds up the undo of its failing tree. The undo ends every wait of the members for locks and
// children, so such waits cannot be part of a cycle.
bool UndoHasToBegin(const ProcNode& node) { return node.root->tree.failing && !node.root->tree.prepared; }

}  // namespace

std::vector<ProcId> WaitsFor(const HeldState& held, const ProcNode& node) {
  if (node.phase == Phase::kLockLine) {
    LockManager::Blocked blocked = held->locks.BlockedBy(node.locks);
    blocked.holders.insert(blocked.holders.end(), blocked.ahead.begin(), blocked.ahead.end());
    return std::move(blocked.holders);
  }
  std::vector<ProcId> children;
  if (!WaitsForChildren(node)) return children;  // also while a report is being folded into it
  for (const ProcNode* child : node.children) {
    if (!IsTerminal(child->durable.state)) children.push_back(child->id.pid);
  }
  return children;
}

std::vector<std::vector<ProcId>> FindCycles(const std::vector<WaitEdge>& edges) { return CycleFinder(edges).Find(); }

WaitForGraph BuildWaitForGraph(const HeldState& held) {
  WaitForGraph graph;
  for (const ProcNode* node : held->tree.Sorted()) {
    const std::size_t before = graph.edges.size();
    if (!UndoHasToBegin(*node)) {
      if (node->phase == Phase::kLockLine) AddLockEdges(held, *node, graph.edges);
      if (node->phase == Phase::kQueued) AddLimitEdge(held, *node, graph.edges);
      if (node->phase == Phase::kWaiting) AddTreeEdges(*node, graph.edges);
    }
    if (graph.edges.size() > before || node->phase == Phase::kFinished) continue;
    if (std::string text = ToText(WaitingOf(held, *node)); !text.empty()) graph.ends[node->id.pid] = std::move(text);
  }
  graph.cycles = FindCycles(graph.edges);
  return graph;
}

std::string WaitForGraph::Chain(ProcId from) const {
  std::string text = fmt::format("{}", from);
  std::set<ProcId> seen{from};
  ProcId at = from;
  while (true) {
    const auto edge =
        std::lower_bound(edges.begin(), edges.end(), at, [](const WaitEdge& e, ProcId pid) { return e.from < pid; });
    if (edge == edges.end() || edge->from != at) {
      if (at == from) return {};
      const auto end = ends.find(at);
      return end == ends.end() ? text : text + " (" + end->second + ")";
    }
    text += fmt::format(" -{}-> {}", edge->why, edge->to);
    if (!seen.insert(edge->to).second) return text + " (a cycle)";
    at = edge->to;
  }
}

std::string_view WaitingKindName(WaitingOn::Kind kind) {
  using Kind = WaitingOn::Kind;
  switch (kind) {
    case Kind::kNone: return "none";
    case Kind::kChildren: return "children";
    case Kind::kEvent: return "event";
    case Kind::kAsync: return "async work";
    case Kind::kRetry: return "retry";
    case Kind::kLock: return "lock";
    case Kind::kCommit: return "commit";
    case Kind::kSiblings: return "undo of others";
    case Kind::kOperator: return "operator";
    case Kind::kPaused: return "paused";
    case Kind::kLimit: return "limit";
  }
  return "unknown";
}

std::string ToText(const WaitingOn& waiting) {
  using Kind = WaitingOn::Kind;
  if (waiting.kind == Kind::kNone) return {};
  std::string text;  // some details are sentences already
  if (waiting.kind != Kind::kPaused && waiting.kind != Kind::kLimit) text = WaitingKindName(waiting.kind);
  if (!waiting.detail.empty()) text += (text.empty() ? "" : " ") + waiting.detail;
  if (waiting.kind == Kind::kLimit) text += ":";
  for (const ProcId pid : waiting.procedures) text += fmt::format(" pid={}", pid);
  return text;
}

WorkersInfo LookAtWorkers(const HeldState& held) {
  const TimePoint now = held.core().deps.clock.Now();
  WorkersInfo info;
  info.workers = held.core().deps.workers.size();
  info.running = held->running.size();
  info.work_waits = held.work_waits();
  for (const ProcNode* node : held->running) {
    const auto runs_for = std::chrono::duration_cast<Millis>(now - node->run_began);
    if (runs_for >= held.options().stuck_threshold) ++info.held;
    if (info.longest.valid() && runs_for <= info.longest_for) continue;
    info.longest = node->id.pid;
    info.longest_for = runs_for;
  }
  for (const ProcNode* node : held->staying) {
    const auto stays_for = std::chrono::duration_cast<Millis>(now - node->step_began);
    if (stays_for < held.options().stuck_threshold) continue;
    ++info.staying;
    if (info.longest_staying.valid() && stays_for <= info.longest_stay) continue;
    info.longest_staying = node->id.pid;
    info.longest_stay = stays_for;
    info.longest_work = node->async_results->Pending();
  }
  return info;
}

void CheckStuckWorkers(ExecutorLock& held) {
  const TimePoint now = held.core().deps.clock.Now();
  const WorkersInfo info = LookAtWorkers(held);
  for (const ProcNode* node : held->running) {
    if (now - node->run_began < held.options().stuck_threshold) continue;
    RATCHET_LOG(kWarn, "worker stuck for {} ms in pid={} {}",
                std::chrono::duration_cast<Millis>(now - node->run_began).count(), node->id.pid, node->id.type);
  }
  if (info.staying > 0) {
    RATCHET_LOG(kWarn, "{} steps wait for their own work, pid={} for {} ms for {}", info.staying, info.longest_staying,
                info.longest_stay.count(), info.longest_work);
  }
  if (info.held == 0 || !info.work_waits || info.held * 2 < info.workers) return;
  WorkerPool& workers = held.core().deps.workers;
  held.Later([&workers, keep = held.options().keep_alive] {
    if (workers.AddTemporary(keep)) RATCHET_LOG(kWarn, "added a worker, now {}", workers.size());
  });
}

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
