#include "procedure/engine/ending.h"

#include "procedure/session/places.h"
#include "procedure/views/notices.h"

namespace ratchet::procedure {

void Finish(Session& session, ProcNode& node) {
  SetIntent(node, Ended{});
  SetKeeps(session, node, false);
  NoteEnded(session, node);
  if (node.parent != nullptr) {
    if (--node.parent->unfinished_children == 0 && node.parent->want() == Want::kChildren &&
        !IsBusy(node.parent->phase)) {
      session.Ready(*node.parent);
    }
  } else {
    session->completed[node.id.pid].finished = session.core().deps.clock.Now();
  }
}

void RemoveDescendants(Session& session, ProcNode& node) {
  std::vector<ProcNode*> members = ProcedureTree::Subtree(node);
  for (std::size_t i = members.size(); i > 1; --i) {
    ProcNode& member = *members[i - 1];
    session->scheduler.Unbind(member.sched);
    SetKeeps(session, member, false);
    session->tree.Remove(member);
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
