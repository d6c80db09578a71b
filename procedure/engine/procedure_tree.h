// All procedures in memory and their parent-child links. Pure; the executor's lock guards it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/engine/proc_node.h"

namespace ratchet::procedure {

class ProcedureTree {
 public:
  // Links the node to its parent, which must be in the tree already.
  ProcNode& Add(std::unique_ptr<ProcNode> node);
  // The node must have no children left.
  void Remove(ProcNode& node);
  [[nodiscard]] ProcNode* Find(ProcId pid) const;

  // By pid.
  [[nodiscard]] std::vector<ProcNode*> Sorted() const;
  // `node` and the tree below it, parents before children.
  [[nodiscard]] static std::vector<ProcNode*> Subtree(ProcNode& node);

  // Changes the phase and updates the tree's count of busy members. A node that is no longer free leaves the ready
  // list.
  static void SetPhase(ProcNode& node, Phase phase);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Calls `visit` in no particular order.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [pid, node] : nodes_) visit(*node);
  }

 private:
  std::unordered_map<ProcId, std::unique_ptr<ProcNode>> nodes_;
};

}  // namespace ratchet::procedure
