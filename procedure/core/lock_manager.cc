#include "procedure/core/lock_manager.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "procedure/core/lists.h"

namespace ratchet::procedure {

// A place in the queue of one resource.
struct LockPlace {
  LockPlace* prev = nullptr;
  LockPlace* next = nullptr;
  QueuedRequest* waiter = nullptr;
  LockResource* resource = nullptr;
  LockMode mode = LockMode::kShared;
};

struct QueuedRequest {
  QueuedRequest* prev = nullptr;  // among the waiters at the same resource
  QueuedRequest* next = nullptr;
  LockHolder* who = nullptr;
  std::uint64_t arrival = 0;
  std::size_t reached = 0;  // the first key that it cannot have yet, where it waits
  bool candidate = false;
  LockPlan plan;                  // owned: returned when it leaves
  std::vector<LockPlace> places;  // one per want, in the order of keys

  [[nodiscard]] LockPlace& place() { return places[reached]; }
};

struct LockResource {
  explicit LockResource(ResourceKey k) : key(std::move(k)) {}

  // A grant: the holder, and the index of the grant in it.
  struct Grant {
    LockHolder* holder;
    std::uint32_t index;
  };
  const ResourceKey key;
  std::uint32_t refs = 0;             // plans, grants
  std::uint32_t related_waiters = 0;  // number of `waiters` that have ancestors
  std::vector<Grant> exclusive;       // one chain of ancestors
  std::vector<Grant> shared;
  Links<LockPlace> shared_line;     // by arrival
  Links<LockPlace> exclusive_line;  // by arrival
  Links<QueuedRequest> waiters;     // waiters whose first missing key this is, by arrival

  std::vector<Grant>& grants(LockMode mode) { return mode == LockMode::kExclusive ? exclusive : shared; }
  Links<LockPlace>& line(LockMode mode) { return mode == LockMode::kExclusive ? exclusive_line : shared_line; }
  [[nodiscard]] bool nobody_waits() const { return exclusive_line.empty() && shared_line.empty(); }
};

// True if this place blocks a later conflicting request: its waiter has reached this key.
inline bool HasReached(const LockPlace& place) {
  return static_cast<std::size_t>(&place - place.waiter->places.data()) <= place.waiter->reached;
}

LockManager::LockManager() = default;
LockManager::~LockManager() = default;

void QueuedRequestDeleter::operator()(QueuedRequest* request) const { delete request; }

// ---- plans ----

LockResource& LockManager::Intern(const ResourceKey& key) {
  std::unique_ptr<LockResource>& resource = resources_[key];
  if (resource == nullptr) resource = std::make_unique<LockResource>(key);
  return *resource;
}

void LockManager::Unref(LockResource& resource) {
  if (--resource.refs > 0) return;
  const auto found = resources_.find(resource.key);
  resources_.erase(found);
}

LockPlan LockManager::Prepare(const std::vector<LockRequest>& wanted) {
  LockPlan plan;
  for (const LockRequest& request : wanted) {
    LockResource& resource = Intern(request.key);
    ++resource.refs;
    plan.wants_.push_back({&resource, request.mode});
  }
  return plan;
}

void LockManager::Forget(LockPlan& plan) {
  for (const LockPlan::Want& want : plan.wants_) Unref(*want.resource);
  plan.wants_.clear();
}

// ---- holders that block a waiter ----

bool LockManager::InFamily(const LockHolder& holder, const LockHolder& other) {
  for (const LockHolder* up = &holder; up != nullptr; up = up->parent_) {
    if (up == &other) return true;
  }
  return false;
}

bool LockManager::HeldByStrangers(const LockResource& resource, const LockHolder& who, LockMode mode) {
  for (const LockResource::Grant& grant : resource.exclusive) {
    if (!InFamily(who, *grant.holder)) return true;
  }
  if (mode == LockMode::kShared) return false;
  for (const LockResource::Grant& grant : resource.shared) {
    if (!InFamily(who, *grant.holder)) return true;
  }
  return false;
}

bool LockManager::CoveredByAncestor(const LockHolder* ancestor, const LockResource& resource, LockMode mode) {
  for (; ancestor != nullptr; ancestor = ancestor->parent_) {
    for (const LockHolder::Held& held : ancestor->held_) {
      if (held.resource == &resource && (mode == LockMode::kShared || held.mode == LockMode::kExclusive)) return true;
    }
  }
  return false;
}

bool LockManager::BlockedInLine(const LockResource& resource, LockMode mode, std::uint64_t arrival) {
  for (const LockPlace* at = resource.exclusive_line.head; at != nullptr && at->waiter->arrival < arrival;
       at = at->next) {
    if (HasReached(*at)) return true;
  }
  if (mode == LockMode::kShared) return false;
  for (const LockPlace* at = resource.shared_line.head; at != nullptr && at->waiter->arrival < arrival; at = at->next) {
    if (HasReached(*at)) return true;
  }
  return false;
}

std::size_t LockManager::FirstMissing(const LockHolder& who, const Wants& wants, std::uint64_t arrival) {
  // Starts from the first key each time: an earlier arrival may have taken a key that this one had passed.
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const LockResource& resource = *wants[i].resource;
    if (HeldByStrangers(resource, who, wants[i].mode)) return i;
    if (resource.nobody_waits() || !BlockedInLine(resource, wants[i].mode, arrival)) continue;
    if (CoveredByAncestor(who.parent_, resource, wants[i].mode)) continue;  // those queued wait for its ancestor
    return i;
  }
  return wants.size();
}

// ---- taking and releasing ----

void LockManager::Grant(LockHolder& who, LockResource& resource, LockMode mode) {
  std::vector<LockResource::Grant>& grants = resource.grants(mode);
  const auto index = static_cast<std::uint32_t>(who.held_.size());
  who.held_.push_back({&resource, static_cast<std::uint32_t>(grants.size()), mode});
  grants.push_back({&who, index});
  ++resource.refs;
}

void LockManager::GrantAll(LockHolder& who, const Wants& wants) {
  for (const LockPlan::Want& want : wants) Grant(who, *want.resource, want.mode);
}

void LockManager::Drop(const LockHolder::Held& held) {
  // The last grant moves into the gap.
  std::vector<LockResource::Grant>& grants = held.resource->grants(held.mode);
  const LockResource::Grant moved = grants.back();
  grants.pop_back();
  if (held.slot == grants.size()) return;
  grants[held.slot] = moved;
  moved.holder->held_[moved.index].slot = held.slot;
}

bool LockManager::TryNow(LockHolder& who, const LockPlan& plan) {
  RATCHET_CHECK(!who.waits(), "pid {} asks for locks twice", who.who());
  if (FirstMissing(who, plan.wants_, ++arrivals_) < plan.wants_.size()) return false;
  GrantAll(who, plan.wants_);
  return true;
}

bool LockManager::TryNow(LockHolder& who, const std::vector<LockRequest>& wanted) {
  LockPlan plan = Prepare(wanted);
  const bool granted = TryNow(who, plan);
  Forget(plan);
  return granted;
}

bool LockManager::Request(LockHolder& who, const LockPlan& plan) {
  if (TryNow(who, plan)) return true;
  Wait(who, plan.wants_);
  return false;
}

bool LockManager::Request(LockHolder& who, const std::vector<LockRequest>& wanted) {
  LockPlan plan = Prepare(wanted);
  const bool granted = Request(who, plan);
  Forget(plan);
  return granted;
}

void LockManager::Release(LockHolder& who, std::vector<ProcId>& granted) {
  bool anybody = false;
  for (const LockHolder::Held& held : who.held_) {
    Drop(held);
    anybody |= !held.resource->waiters.empty();
  }
  if (anybody) {
    for (const LockHolder::Held& held : who.held_) Collect(*held.resource);
  }
  // `freed` keeps its references until the end, so that no resource disappears while Serve runs.
  const auto freed = std::move(who.held_);
  if (anybody) Serve(granted);
  for (const LockHolder::Held& held : freed) Unref(*held.resource);
}

void LockManager::Retain(LockHolder& who, const std::vector<LockRequest>& keep, std::vector<ProcId>& granted) {
  if (who.held_.empty()) return;
  std::vector<LockRequest> rest = keep;
  std::vector<LockPlan::Want> kept;
  std::vector<LockResource*> freed;
  for (const LockHolder::Held& held : who.held_) {
    Drop(held);
    const auto wanted = std::find_if(rest.begin(), rest.end(), [&held](const LockRequest& request) {
      return request.mode == held.mode && request.key == held.resource->key;
    });
    if (wanted != rest.end()) {
      rest.erase(wanted);
      kept.push_back({held.resource, held.mode});
    } else {
      freed.push_back(held.resource);
    }
  }
  RATCHET_CHECK(rest.empty(), "pid {} does not hold {}", who.who(), rest.front().key.ToString());
  who.held_.clear();
  for (const LockPlan::Want& want : kept) {
    Grant(who, *want.resource, want.mode);
    --want.resource->refs;  // reference of the earlier grant
  }
  for (LockResource* resource : freed) Collect(*resource);
  Serve(granted);
  for (LockResource* resource : freed) Unref(*resource);
}

void LockManager::HandOver(LockHolder& from, LockHolder& to, std::vector<ProcId>& granted) {
  const auto moved = std::move(from.held_);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const LockHolder::Held& held = moved[i];
    held.resource->grants(held.mode)[held.slot] = {&to, static_cast<std::uint32_t>(to.held_.size())};
    to.held_.push_back(held);
  }
  for (const LockHolder::Held& held : moved) Collect(*held.resource);
  Serve(granted);
}

Status LockManager::Restore(LockHolder& who, const std::vector<LockRequest>& held) {
  LockPlan plan = Prepare(held);
  for (const LockPlan::Want& want : plan.wants_) {
    LockResource& resource = *want.resource;
    if (!HeldByStrangers(resource, who, want.mode)) continue;
    std::string others;
    for (const LockResource::Grant& grant : resource.exclusive) others += fmt::format(" {}", grant.holder->who());
    for (const LockResource::Grant& grant : resource.shared) others += fmt::format(" {}", grant.holder->who());
    Error refused(Code::kFailedPrecondition, fmt::format("{} is recorded as held by pid {} and also by{}",
                                                         resource.key.ToString(), who.who(), others));
    Forget(plan);
    return refused;
  }
  GrantAll(who, plan.wants_);
  Forget(plan);
  return Ok();
}

// ---- queues ----

void LockManager::Wait(LockHolder& who, const Wants& wants) {
  auto waiter = std::make_unique<QueuedRequest>();
  waiter->who = &who;
  waiter->arrival = ++arrivals_;
  waiter->places.resize(wants.size());
  for (std::size_t i = 0; i < wants.size(); ++i) {
    LockPlace& place = waiter->places[i];
    place.waiter = waiter.get();
    place.resource = wants[i].resource;
    place.mode = wants[i].mode;
    ++place.resource->refs;
    waiter->plan.wants_.push_back(wants[i]);
  }
  const std::size_t reached = FirstMissing(who, wants, waiter->arrival);
  RATCHET_CHECK(reached < wants.size(), "pid {} can be granted what it could not", who.who());
  for (LockPlace& place : waiter->places) place.resource->line(place.mode).PushBack(&place);
  StandAt(*waiter, reached);
  who.waiter_.reset(waiter.release());
}

std::unique_ptr<QueuedRequest, QueuedRequestDeleter> LockManager::LeaveLines(QueuedRequest& waiter) {
  StandNowhere(waiter);
  for (LockPlace& place : waiter.places) place.resource->line(place.mode).Remove(&place);
  return std::move(waiter.who->waiter_);
}

void LockManager::StandAt(QueuedRequest& waiter, std::size_t reached) {
  waiter.reached = reached;
  LockResource& resource = *waiter.place().resource;
  // Searches from both ends, because new waiters belong at the back, and waiters that come from an earlier key near the
  // front.
  QueuedRequest* back = resource.waiters.tail;
  QueuedRequest* front = resource.waiters.head;
  while (back != nullptr && back->arrival > waiter.arrival && front->arrival < waiter.arrival) {
    back = back->prev;
    front = front->next;
  }
  if (back == nullptr || back->arrival < waiter.arrival) {
    resource.waiters.InsertAfter(back, &waiter);
  } else {
    resource.waiters.InsertAfter(front->prev, &waiter);
  }
  if (waiter.who->parent_ != nullptr) ++resource.related_waiters;
}

void LockManager::StandNowhere(QueuedRequest& waiter) {
  LockResource& resource = *waiter.place().resource;
  resource.waiters.Remove(&waiter);
  if (waiter.who->parent_ != nullptr) --resource.related_waiters;
}

void LockManager::Cancel(LockHolder& who, std::vector<ProcId>& granted) {
  if (!who.waits()) return;
  const auto waiter = LeaveLines(*who.waiter_);
  for (const LockPlace& place : waiter->places) Collect(*place.resource);
  Serve(granted);
  Forget(waiter->plan);
}

void LockManager::Collect(LockResource& resource) {
  const bool held = !resource.exclusive.empty() || !resource.shared.empty();
  for (QueuedRequest* waiter = resource.waiters.head; waiter != nullptr; waiter = waiter->next) {
    if (!waiter->candidate) candidates_.push_back(waiter);
    waiter->candidate = true;
    // Behind an exclusive request no waiter at this key can move, granted or not, except relatives of a holder.
    if (waiter->place().mode == LockMode::kExclusive && (!held || resource.related_waiters == 0)) return;
  }
}

void LockManager::Serve(std::vector<ProcId>& granted) {
  // Oldest first. A waiter that moves on may free a place at keys that it has passed only for those behind it. A waiter
  // that is granted leaves its queues as a holder, which frees no other.
  const auto younger = [](const QueuedRequest* a, const QueuedRequest* b) { return a->arrival > b->arrival; };
  std::make_heap(candidates_.begin(), candidates_.end(), younger);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), younger);
    QueuedRequest& waiter = *candidates_.back();
    candidates_.pop_back();
    waiter.candidate = false;
    const std::size_t missing = FirstMissing(*waiter.who, waiter.plan.wants_, waiter.arrival);
    if (missing == waiter.places.size()) {
      LockHolder& who = *waiter.who;
      const auto owned = LeaveLines(waiter);
      GrantAll(who, owned->plan.wants_);
      Forget(owned->plan);
      granted.push_back(who.who());
      continue;
    }
    if (moved_ != nullptr) moved_->push_back(waiter.who->who());
    if (missing != waiter.reached) {
      const std::size_t before = waiter.reached;
      StandNowhere(waiter);
      StandAt(waiter, missing);
      if (missing > before) continue;
      // The waiter was overtaken and steps back: its places at later keys are free for those behind it.
      for (std::size_t i = missing + 1; i <= before; ++i) Collect(*waiter.places[i].resource);
      std::make_heap(candidates_.begin(), candidates_.end(), younger);
    }
  }
}

// ---- views ----

namespace {

// By pid: ancestors come first. A holder may hold what its children have handed over in addition to its own.
std::vector<ProcId> WhoHolds(const std::vector<LockResource::Grant>& grants) {
  std::vector<ProcId> pids;
  for (const LockResource::Grant& grant : grants) pids.push_back(grant.holder->who());
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

}  // namespace

std::vector<LockRequest> LockManager::Held(const LockHolder& who) {
  std::vector<LockRequest> all;
  all.reserve(who.held_.size());
  for (const LockHolder::Held& held : who.held_) all.push_back({held.resource->key, held.mode});
  return all;
}

std::vector<LockInfo> LockManager::List() const {
  std::vector<LockInfo> all;
  for (const auto& [key, resource] : resources_) {
    if (resource->exclusive.empty() && resource->shared.empty() && resource->nobody_waits()) continue;
    LockInfo& info = all.emplace_back();
    info.key = key;
    info.exclusive = WhoHolds(resource->exclusive);
    info.shared = WhoHolds(resource->shared);
    const LockPlace* exclusive = resource->exclusive_line.head;
    const LockPlace* shared = resource->shared_line.head;
    while (exclusive != nullptr || shared != nullptr) {
      const bool first =
          shared == nullptr || (exclusive != nullptr && exclusive->waiter->arrival < shared->waiter->arrival);
      const LockPlace*& next = first ? exclusive : shared;
      info.waiters.push_back({next->waiter->who->who(), next->mode});
      next = next->next;
    }
  }
  std::sort(all.begin(), all.end(), [](const LockInfo& a, const LockInfo& b) { return a.key < b.key; });
  return all;
}

// Explains waits: what a waiter waits for, and whether a request keeps to the order, S15 (total lock order).

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
