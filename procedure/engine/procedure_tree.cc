#include "procedure/engine/procedure_tree.h"

#include <algorithm>

#include "common/base/check.h"

namespace ratchet::procedure {

ProcNode& ProcedureTree::Add(std::unique_ptr<ProcNode> node) {
  ProcNode& added = *node;
  if (added.id.parent.valid()) {
    ProcNode* parent = Find(added.id.parent);
    RATCHET_CHECK(parent != nullptr, "pid {} has no parent {} in memory", added.id.pid, added.id.parent);
    added.parent = parent;
    added.root = parent->root;
    added.locks.SetParent(&parent->locks);
    parent->children.push_back(&added);
    if (!IsTerminal(added.durable.state)) ++parent->unfinished_children;
  } else {
    added.root = &added;
  }
  RATCHET_CHECK(nodes_.emplace(added.id.pid, std::move(node)).second, "pid {} exists twice", added.id.pid);
  return added;
}

void ProcedureTree::Remove(ProcNode& node) {
  RATCHET_CHECK(node.children.empty(), "pid {} still has children", node.id.pid);
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} is busy", node.id.pid);
  if (node.parent != nullptr) {
    auto& siblings = node.parent->children;
    // Children are usually removed youngest first.
    const auto mine = std::find(siblings.rbegin(), siblings.rend(), &node);
    siblings.erase(std::next(mine).base());
  }
  nodes_.erase(node.id.pid);
}

ProcNode* ProcedureTree::Find(ProcId pid) const {
  const auto found = nodes_.find(pid);
  return found == nodes_.end() ? nullptr : found->second.get();
}

std::vector<ProcNode*> ProcedureTree::Sorted() const {
  std::vector<ProcNode*> all;
  all.reserve(nodes_.size());
  for (const auto& [pid, node] : nodes_) all.push_back(node.get());
  std::sort(all.begin(), all.end(), [](const ProcNode* a, const ProcNode* b) { return a->id.pid < b->id.pid; });
  return all;
}

std::vector<ProcNode*> ProcedureTree::Subtree(ProcNode& node) {
  std::vector<ProcNode*> all{&node};
  for (std::size_t i = 0; i < all.size(); ++i) {  // `all` grows while the loop runs
    const auto& children = all[i]->children;
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

namespace {

[[gnu::cold, gnu::noinline]] void RefuseMove(const ProcNode& node, Phase phase) {
  RATCHET_CHECK(false, "pid {} goes from {} to {}", node.id.pid, PhaseName(node.phase), PhaseName(phase));
}

}  // namespace

void ProcedureTree::SetPhase(ProcNode& node, Phase phase) {
  if (!IsLegalMove(node.phase, phase)) RefuseMove(node, phase);
  const bool was = IsBusy(node.phase);
  const bool is = IsBusy(phase);
  node.phase = phase;
  if (phase != Phase::kFree) node.ready.Leave();
  if (was == is) return;
  if (is) {
    ++node.root->tree.busy;
  } else {
    --node.root->tree.busy;
  }
}

}  // namespace ratchet::procedure
