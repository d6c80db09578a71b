// Explains waits: what a waiter waits for, and whether a request keeps to the order, S15 (total lock order).
#include <algorithm>

#include <fmt/format.h>

#include "procedure/core/lock_manager.h"
#include "procedure/core/lock_resource.h"

namespace ratchet::procedure {

LockManager::Blocked LockManager::BlockedBy(const LockHolder& who) const {
  Blocked blocked;
  if (!who.waits()) return blocked;
  const QueuedRequest& waiter = *who.waiter_;
  const Wants& wants = waiter.plan.wants_;
  const std::size_t missing = FirstMissing(who, wants, waiter.arrival);
  if (missing == wants.size()) return blocked;
  const LockResource& resource = *wants[missing].resource;
  const LockMode mode = wants[missing].mode;
  blocked.key = resource.key;
  const auto add_strangers = [&](const std::vector<LockResource::Grant>& grants) {
    for (const LockResource::Grant& grant : grants) {
      if (!InFamily(who, *grant.holder)) blocked.holders.push_back(grant.holder->who());
    }
  };
  add_strangers(resource.exclusive);
  if (mode == LockMode::kExclusive) add_strangers(resource.shared);
  std::sort(blocked.holders.begin(), blocked.holders.end());
  blocked.holders.erase(std::unique(blocked.holders.begin(), blocked.holders.end()), blocked.holders.end());
  if (CoveredByAncestor(who.parent_, resource, mode)) return blocked;
  AddAhead(waiter.places[missing], blocked.ahead);
  return blocked;
}

// The newest exclusive request ahead at this key itself waits for all ahead of it (unless its ancestor has the lock
// already), so those need not be named again. Otherwise each of 100,000 waiters in one queue would name all before it.
void LockManager::AddAhead(const LockPlace& place, std::vector<ProcId>& pids) {
  const std::uint64_t arrival = place.waiter->arrival;
  const LockResource& resource = *place.resource;
  const auto before = [&](LockMode mode) {
    if (mode == place.mode) return place.prev;
    LockPlace* at = place.resource->line(mode).tail;
    while (at != nullptr && at->waiter->arrival > arrival) at = at->prev;
    return at;
  };
  std::vector<const QueuedRequest*> ahead;
  std::uint64_t speaks_for = 0;  // requests with a lower arrival number are reached through this one
  for (const LockPlace* at = before(LockMode::kExclusive); at != nullptr && speaks_for == 0; at = at->prev) {
    if (!HasReached(*at)) continue;
    ahead.push_back(at->waiter);
    const bool stands_here = &at->waiter->place() == at;
    if (stands_here && !CoveredByAncestor(at->waiter->who->parent_, resource, at->mode))
      speaks_for = at->waiter->arrival;
  }
  if (place.mode == LockMode::kExclusive) {
    for (const LockPlace* at = before(LockMode::kShared); at != nullptr && at->waiter->arrival > speaks_for;
         at = at->prev) {
      if (HasReached(*at)) ahead.push_back(at->waiter);
    }
  }
  std::sort(ahead.begin(), ahead.end(),
            [](const QueuedRequest* a, const QueuedRequest* b) { return a->arrival < b->arrival; });
  for (const QueuedRequest* other : ahead) pids.push_back(other->who->who());
}

Status LockManager::CheckOrder(const LockHolder* parent, const std::vector<LockRequest>& wanted) {
  const ResourceKey* last = nullptr;
  for (const LockHolder* up = parent; up != nullptr; up = up->parent_) {
    for (const LockHolder::Held& held : up->held_) {
      if (last == nullptr || *last < held.resource->key) last = &held.resource->key;
    }
  }
  if (last == nullptr) return Ok();
  const auto covered = [parent](const LockRequest& request) {
    for (const LockHolder* up = parent; up != nullptr; up = up->parent_) {
      for (const LockHolder::Held& held : up->held_) {
        if (held.resource->key != request.key) continue;
        if (request.mode == LockMode::kShared || held.mode == LockMode::kExclusive) return true;
      }
    }
    return false;
  };
  for (const LockRequest& request : wanted) {
    if (*last < request.key || covered(request)) continue;
    return Error(Code::kInvalidArgument,
                 fmt::format("wants {}, which comes before {} that an ancestor holds (lock order)",
                             request.key.ToString(), last->ToString()));
  }
  return Ok();
}

}  // namespace ratchet::procedure
