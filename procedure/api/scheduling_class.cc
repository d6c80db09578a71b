#include "procedure/api/scheduling_class.h"

#include <algorithm>
#include <string>

namespace ratchet::procedure {
namespace {

constexpr std::string_view kSystemNamespace = "hbase";
constexpr std::string_view kMetaTable = "hbase:meta";

Priority PriorityOfTable(const ResourceKey& key) {
  const auto table = key.kind == ResourceKind::kRegion ? key.Parent() : key;
  if (table->name == kMetaTable) return Priority::kTableMeta;
  const auto space = table->Parent();
  return space && space->name == kSystemNamespace ? Priority::kTableSystem : Priority::kTableUser;
}

Priority PriorityOf(const ResourceKey& key) {
  switch (key.kind) {
    case ResourceKind::kCluster: return Priority::kCluster;
    case ResourceKind::kMeta: return Priority::kMeta;
    case ResourceKind::kServer: return Priority::kServer;
    case ResourceKind::kPeer: return Priority::kPeer;
    case ResourceKind::kNamespace: return key.name == kSystemNamespace ? Priority::kTableSystem : Priority::kTableUser;
    case ResourceKind::kTable:
    case ResourceKind::kRegion: return PriorityOfTable(key);
  }
  return Priority::kTableUser;
}

Priority PriorityOfAll(const LockSet& locks) {
  Priority best = Priority::kTableUser;
  for (const LockRequest& request : locks.requests()) best = std::min(best, PriorityOf(request.key));
  return best;
}

// Returns the most specific resource; a region counts as its table.
ResourceKey QueueOf(const LockSet& locks) {
  const LockRequest* chosen = &locks.requests().front();
  for (const LockRequest& request : locks.requests()) {
    if (PriorityOf(request.key) < PriorityOf(chosen->key)) chosen = &request;
  }
  if (chosen->key.kind == ResourceKind::kRegion) return *chosen->key.Parent();
  for (const LockRequest& request : locks.requests()) {
    if (chosen->key.kind == ResourceKind::kNamespace && request.key.kind == ResourceKind::kTable) return request.key;
  }
  return chosen->key;
}

}  // namespace

Priority EffectivePriority(const Procedure& procedure) {
  if (const Priority declared = procedure.priority(); declared != Priority::kByLocks) return declared;
  return PriorityOfAll(procedure.Locks());
}

SchedulingPlace PlaceOf(const Procedure& procedure) {
  const LockSet locks = procedure.Locks();
  SchedulingPlace place;
  place.priority = procedure.priority();
  if (place.priority == Priority::kByLocks) place.priority = PriorityOfAll(locks);
  place.queue = locks.empty() ? ResourceKey::Table(std::string(procedure.type_name())) : QueueOf(locks);
  for (const LockRequest& request : locks.requests()) {
    place.exclusive |= request.mode == LockMode::kExclusive && request.key == place.queue;
  }
  return place;
}

bool Procedure::Urgent() const {
  const Priority priority = EffectivePriority(*this);
  return priority == Priority::kCluster || priority == Priority::kMeta || priority == Priority::kServer ||
         priority == Priority::kTableMeta;
}

}  // namespace ratchet::procedure
