#include "procedure/api/scheduling_class.h"

#include <algorithm>
#include <string>

namespace ratchet::procedure {
namespace {

Priority PriorityOfTable(const ResourceKey& key, const SystemTables& system) {
  const auto table = key.kind == ResourceKind::kRegion ? key.Parent() : key;
  if (!system.first.empty() && table->name == system.first) return Priority::kTableMeta;
  const auto space = table->Parent();
  return space && system.IsNamespace(space->name) ? Priority::kTableSystem : Priority::kTableUser;
}

Priority PriorityOf(const ResourceKey& key, const SystemTables& system) {
  switch (key.kind) {
    case ResourceKind::kCluster: return Priority::kCluster;
    case ResourceKind::kMeta: return Priority::kMeta;
    case ResourceKind::kServer: return Priority::kServer;
    case ResourceKind::kPeer: return Priority::kPeer;
    case ResourceKind::kNamespace: return system.IsNamespace(key.name) ? Priority::kTableSystem : Priority::kTableUser;
    case ResourceKind::kTable:
    case ResourceKind::kRegion: return PriorityOfTable(key, system);
  }
  return Priority::kTableUser;
}

Priority PriorityOfAll(const LockSet& locks, const SystemTables& system) {
  Priority best = Priority::kTableUser;
  for (const LockRequest& request : locks.requests()) best = std::min(best, PriorityOf(request.key, system));
  return best;
}

// Returns the most specific resource; a region counts as its table.
ResourceKey QueueOf(const LockSet& locks, const SystemTables& system) {
  const LockRequest* chosen = &locks.requests().front();
  for (const LockRequest& request : locks.requests()) {
    if (PriorityOf(request.key, system) < PriorityOf(chosen->key, system)) chosen = &request;
  }
  if (chosen->key.kind == ResourceKind::kRegion) return *chosen->key.Parent();
  for (const LockRequest& request : locks.requests()) {
    if (chosen->key.kind == ResourceKind::kNamespace && request.key.kind == ResourceKind::kTable) return request.key;
  }
  return chosen->key;
}

bool IsUrgent(Priority priority) {
  return priority == Priority::kCluster || priority == Priority::kMeta || priority == Priority::kServer ||
         priority == Priority::kTableMeta;
}

}  // namespace

SchedulingPlace PlaceOf(const Procedure& procedure, const SystemTables& system) {
  return PlaceOf(procedure, procedure.Locks(), system);
}

SchedulingPlace PlaceOf(const Procedure& procedure, const LockSet& locks, const SystemTables& system) {
  SchedulingPlace place;
  place.priority = procedure.priority();
  if (place.priority == Priority::kByLocks) place.priority = PriorityOfAll(locks, system);
  place.urgent = IsUrgent(place.priority);
  place.queue = locks.empty() ? ResourceKey::Table(std::string(procedure.type_name())) : QueueOf(locks, system);
  for (const LockRequest& request : locks.requests()) {
    place.exclusive |= request.mode == LockMode::kExclusive && request.key == place.queue;
  }
  return place;
}

}  // namespace ratchet::procedure
