// The wait-for graph and its cycles.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "procedure/api/scheduling_class.h"
#include "procedure/engine/observe.h"

namespace ratchet::procedure {
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
    edges.push_back({node.id.pid, on.procedures.front(), "limit of " + PlaceOf(*node.procedure).queue.ToString()});
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

}  // namespace ratchet::procedure
