// The wait-for graph and its cycles.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "procedure/views.h"

namespace ratchet::procedure {
namespace {

// Rings in the graph, each once, rotated so that its lowest pid comes first. Depth first with an explicit stack.
class CycleFinder {
 public:
  explicit CycleFinder(const std::vector<WaitEdge>& edges) {
    for (const WaitEdge& edge : edges) targets_[edge.from].push_back(edge.to);
  }

  std::vector<std::vector<ProcId>> Find() {
    for (const auto& [from, to] : targets_) {
      if (!done_.contains(from)) Walk(from);
    }
    return {rings_.begin(), rings_.end()};
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
        AddRing(path, to);
      } else if (!done_.contains(to)) {
        on_path_.insert(to);
        path.push_back({to});
      }
    }
  }

  void AddRing(const std::vector<Frame>& path, ProcId first) {
    std::vector<ProcId> ring;
    const auto begin = std::find_if(path.begin(), path.end(), [first](const Frame& frame) { return frame.pid == first; });
    for (auto it = begin; it != path.end(); ++it) ring.push_back(it->pid);
    std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
    rings_.insert(std::move(ring));
  }

  std::map<ProcId, std::vector<ProcId>> targets_;
  std::set<ProcId> done_;
  std::set<ProcId> on_path_;
  std::set<std::vector<ProcId>> rings_;
};

void AddLockEdges(Session& session, const ProcNode& node, std::vector<WaitEdge>& edges) {
  const LockManager::Blocked blocked = session->locks.BlockedBy(node.locks);
  for (const ProcId holder : blocked.holders) {
    edges.push_back({node.id.pid, holder, "lock " + blocked.key.ToString()});
  }
  for (const ProcId ahead : blocked.ahead) {
    edges.push_back({node.id.pid, ahead, "behind in line for " + blocked.key.ToString()});
  }
}

// Also while it is parked: unparked it goes on waiting, and a ring must not form unseen meanwhile.
bool WaitsForChildren(const ProcNode& node) {
  if (node.want == Want::kOperator) return node.durable.state == ProcState::kWaiting && !node.root->tree.failing;
  return node.want == Want::kChildren;
}

}  // namespace

std::vector<ProcId> WaitsFor(Session& session, const ProcNode& node) {
  if (node.phase == Phase::kLockLine) {
    LockManager::Blocked blocked = session->locks.BlockedBy(node.locks);
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

WaitForGraph BuildWaitForGraph(Session& session) {
  WaitForGraph graph;
  for (const ProcNode* node : session->tree.Sorted()) {
    if (node->phase == Phase::kLockLine) AddLockEdges(session, *node, graph.edges);
    if (node->phase != Phase::kWaiting || !WaitsForChildren(*node)) continue;
    for (const ProcNode* child : node->children) {
      if (!IsTerminal(child->durable.state)) graph.edges.push_back({node->id.pid, child->id.pid, "child"});
    }
  }
  graph.cycles = FindCycles(graph.edges);
  return graph;
}

std::string WaitForGraph::Chain(ProcId from) const {
  std::string text = fmt::format("{}", from);
  std::set<ProcId> seen{from};
  ProcId at = from;
  while (true) {
    const auto edge = std::find_if(edges.begin(), edges.end(), [at](const WaitEdge& e) { return e.from == at; });
    if (edge == edges.end()) return text;
    text += fmt::format(" -{}-> {}", edge->why, edge->to);
    if (!seen.insert(edge->to).second) return text + " (a ring)";
    at = edge->to;
  }
}

std::string_view WaitingKindName(WaitingOn::Kind kind) {
  using Kind = WaitingOn::Kind;
  switch (kind) {
    case Kind::kNone: return "none";
    case Kind::kChildren: return "children";
    case Kind::kEvent: return "event";
    case Kind::kOnce: return "async work";
    case Kind::kRetry: return "retry";
    case Kind::kLock: return "lock";
    case Kind::kCommit: return "commit";
    case Kind::kSiblings: return "undo of others";
    case Kind::kOperator: return "operator";
    case Kind::kPaused: return "paused";
  }
  return "unknown";
}

}  // namespace ratchet::procedure
