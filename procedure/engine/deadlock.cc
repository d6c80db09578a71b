#include "procedure/engine/deadlock.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/session/places.h"
#include "procedure/views/views.h"

namespace ratchet::procedure {
namespace {

// A path from `start` back to itself, without the repetition; empty when there is none. Depth first, explicit stack.
std::vector<ProcNode*> RingThrough(Session& session, ProcNode& start) {
  struct Frame {
    ProcNode* node;
    std::vector<ProcId> targets;
    std::size_t next = 0;
  };
  std::vector<Frame> path{{&start, WaitsFor(session, start)}};
  std::unordered_set<ProcId> seen{start.id.pid};
  while (!path.empty()) {
    Frame& top = path.back();
    if (top.next == top.targets.size()) {
      path.pop_back();
      continue;
    }
    const ProcId target = top.targets[top.next++];
    if (target == start.id.pid) {
      std::vector<ProcNode*> ring;
      for (const Frame& frame : path) ring.push_back(frame.node);
      return ring;
    }
    ProcNode* node = session->tree.Find(target);
    if (node == nullptr || !seen.insert(target).second) continue;
    if (node->root->tree.failing || node->root->abort) continue;  // gives way already
    path.push_back({node, WaitsFor(session, *node)});
  }
  return {};
}

bool KeepsLocksOfChildren(ProcNode& root) {
  for (const ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->kept_for_children) return true;
  }
  return false;
}

}  // namespace

void BreakRing(Session& session, ProcNode& node) {
  // There may be several through it: each victim opens one.
  while (session->keepers > 0 && node.phase == Phase::kLockLine && !node.root->tree.failing && !node.root->abort) {
    const std::vector<ProcNode*> ring = RingThrough(session, node);
    if (ring.empty()) return;
    ProcNode* victim = nullptr;
    std::string names;
    for (ProcNode* member : ring) {
      names += fmt::format("{}pid={}", names.empty() ? "" : " -> ", member->id.pid);
      ProcNode* root = member->root;
      if (root->durable.past_no_return || root->tree.failing || root->abort) continue;
      if (victim != nullptr && victim->id.pid >= root->id.pid) continue;
      if (KeepsLocksOfChildren(*root)) victim = root;
    }
    RATCHET_LOG(kWarn, "procedures wait for each other: {}; {}", names,
                victim == nullptr ? "no procedure can give way" : fmt::format("pid={} gives way", victim->id.pid));
    if (victim == nullptr) return;
    victim->abort = AbortRequest{"the lock manager", "deadlock: " + names, {}, false};
    if (IsBusy(victim->phase)) continue;  // found when it is free
    LeaveEverything(session, *victim);
    session.Ready(*victim);
  }
}

void BreakMovedRings(Session& session) {
  for (const ProcId pid : std::exchange(session->moved_waiters, {})) {
    ProcNode* node = session->keepers == 0 ? nullptr : session->tree.Find(pid);
    if (node != nullptr) BreakRing(session, *node);
  }
}

void CheckRingsBelow(Session& session, ProcNode& node) {
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member->phase == Phase::kLockLine) session->moved_waiters.push_back(member->id.pid);
  }
}

}  // namespace ratchet::procedure
