#include "procedure/engine/pause_cover.h"

#include <algorithm>
#include <vector>

#include "procedure/core/author_object.h"

namespace ratchet::procedure {
namespace {

bool LocksResource(const Procedure& procedure, const ResourceKey& key) {
  const std::vector<LockRequest> wanted = procedure.Locks().Expanded();  // parents included
  return std::any_of(wanted.begin(), wanted.end(), [&key](const LockRequest& request) { return request.key == key; });
}

}  // namespace

bool Covers(const HeldState& held, const PauseScope& scope, const ProcNode& node) {
  switch (scope.kind) {
    case PauseScope::Kind::kEverything: return true;
    case PauseScope::Kind::kOrdinary: return !node.sched.urgent;
    case PauseScope::Kind::kType: return node.id.type == scope.type;
    case PauseScope::Kind::kResource: {
      if (node.procedure == nullptr) return false;
      if (!IsBusy(node.phase)) return LocksResource(*node.procedure, scope.resource);
      const ProcedurePtr copy = MakeFromRecord(held.core().deps.registry, node.id, node.durable.data);
      return copy != nullptr && LocksResource(*copy, scope.resource);
    }
    case PauseScope::Kind::kProcedure:
      if (node.id.pid == scope.pid) return true;
      for (ProcId up = node.id.parent; up.valid();) {  // by pid: a new node is not linked yet
        if (up == scope.pid) return true;
        const ProcNode* ancestor = held->tree.Find(up);
        up = ancestor == nullptr ? ProcId() : ancestor->id.parent;
      }
      return false;
  }
  return false;
}

const PauseInfo* PausedBy(const HeldState& held, const ProcNode& node) {
  for (const PauseInfo& pause : held->pauses.active) {
    if (Covers(held, pause.scope, node)) return &pause;
  }
  return nullptr;
}

}  // namespace ratchet::procedure
