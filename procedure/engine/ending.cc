#include "procedure/engine/ending.h"

#include "procedure/engine/notifications.h"
#include "procedure/engine/queueing.h"

namespace ratchet::procedure {

void Finish(ExecutorLock& held, ProcNode& node) {
  SetNextAction(node, Ended{});
  SetInheritsChildLocks(held, node, false);
  NoteEnded(held, node);
  if (node.parent != nullptr) {
    if (--node.parent->unfinished_children == 0 && node.parent->next_kind() == NextActionKind::kChildren &&
        !IsBusy(node.parent->phase)) {
      held.Ready(*node.parent);
    }
  } else {
    held->completed[node.id.pid].finished = held.core().deps.clock.Now();
  }
}

void RemoveDescendants(ExecutorLock& held, ProcNode& node) {
  std::vector<ProcNode*> members = ProcedureTree::Subtree(node);
  for (std::size_t i = members.size(); i > 1; --i) {
    ProcNode& member = *members[i - 1];
    held->scheduler.Unbind(member.sched);
    SetInheritsChildLocks(held, member, false);
    held->tree.Remove(member);
  }
}

std::vector<ProcId> DescendantsToDelete(ProcNode& node) {
  std::vector<ProcId> pids;
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member != &node) pids.push_back(member->id.pid);
  }
  return pids;
}

}  // namespace ratchet::procedure
