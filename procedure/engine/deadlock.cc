#include "procedure/engine/deadlock.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/queueing.h"

namespace ratchet::procedure {
namespace {

// Returns a path from `start` back to itself, without the repetition; empty when there is none. Depth first, explicit
// stack.
std::vector<ProcNode*> CycleThrough(const HeldState& held, ProcNode& start) {
  struct Frame {
    ProcNode* node;
    std::vector<ProcId> targets;
    std::size_t next = 0;
  };
  std::vector<Frame> path{{&start, WaitsFor(held, start)}};
  std::unordered_set<ProcId> seen{start.id.pid};
  while (!path.empty()) {
    Frame& top = path.back();
    if (top.next == top.targets.size()) {
      path.pop_back();
      continue;
    }
    const ProcId target = top.targets[top.next++];
    if (target == start.id.pid) {
      std::vector<ProcNode*> cycle;
      for (const Frame& frame : path) cycle.push_back(frame.node);
      return cycle;
    }
    ProcNode* node = held->tree.Find(target);
    if (node == nullptr || !seen.insert(target).second) continue;
    if (node->root->tree.failing || node->root->abort) continue;  // is already being undone
    path.push_back({node, WaitsFor(held, *node)});
  }
  return {};
}

bool AnyInheritsChildLocks(ProcNode& root) {
  for (const ProcNode* member : ProcedureTree::Subtree(root)) {
    if (member->inherits_child_locks) return true;
  }
  return false;
}

}  // namespace

void BreakDeadlock(ExecutorLock& held, ProcNode& node) {
  // Several cycles may pass through it: each victim breaks one.
  while (held->lock_inheritors > 0 && node.phase == Phase::kLockLine && !node.root->tree.failing && !node.root->abort) {
    const std::vector<ProcNode*> cycle = CycleThrough(held, node);
    if (cycle.empty()) return;
    ProcNode* victim = nullptr;
    std::string names;
    for (ProcNode* member : cycle) {
      names += fmt::format("{}pid={}", names.empty() ? "" : " -> ", member->id.pid);
      ProcNode* root = member->root;
      if (root->durable.past_no_return || root->tree.failing || root->abort) continue;
      if (victim != nullptr && victim->id.pid >= root->id.pid) continue;
      if (AnyInheritsChildLocks(*root)) victim = root;
    }
    RATCHET_LOG(
        kWarn, "procedures wait for each other: {}; {}", names,
        victim == nullptr ? "no tree can be undone" : fmt::format("the tree of pid={} is undone", victim->id.pid));
    if (victim == nullptr) return;
    victim->abort = AbortRequest{"the lock manager", "deadlock: " + names, {}, false};
    if (IsBusy(victim->phase)) continue;  // the abort is found when the victim is free
    LeaveEverything(held, *victim);
    held.Ready(*victim);
  }
}

void BreakMovedDeadlocks(ExecutorLock& held) {
  for (const ProcId pid : std::exchange(held->moved_waiters, {})) {
    ProcNode* node = held->lock_inheritors == 0 ? nullptr : held->tree.Find(pid);
    if (node != nullptr) BreakDeadlock(held, *node);
  }
}

void CheckRingsBelow(ExecutorLock& held, ProcNode& node) {
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member->phase == Phase::kLockLine) held->moved_waiters.push_back(member->id.pid);
  }
}

}  // namespace ratchet::procedure
