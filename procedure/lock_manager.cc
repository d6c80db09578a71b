#include "procedure/lock_manager.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"

namespace ratchet::procedure {

bool LockManager::Covered(std::span<const ProcId> ancestors, const LockRequest& request) const {
  const auto found = resources_.find(request.key);
  if (found == resources_.end()) return false;
  const Resource& resource = found->second;
  for (const ProcId ancestor : ancestors) {
    for (const auto& [holder, count] : resource.exclusive) {
      if (holder == ancestor) return true;
    }
    if (request.mode == LockMode::kShared && resource.shared.contains(ancestor)) return true;
  }
  return false;
}

bool LockManager::HeldByStrangers(const Resource& resource, ProcId who, std::span<const ProcId> ancestors, LockMode mode) {
  const auto family = [who, ancestors](ProcId holder) {
    return holder == who || std::find(ancestors.begin(), ancestors.end(), holder) != ancestors.end();
  };
  for (const auto& [holder, count] : resource.exclusive) {
    if (!family(holder)) return true;
  }
  if (mode == LockMode::kShared) return false;
  std::size_t own = resource.shared.contains(who) ? 1 : 0;
  for (const ProcId ancestor : ancestors) own += resource.shared.contains(ancestor) ? 1 : 0;
  return resource.shared.size() > own;
}

bool LockManager::BlocksInLine(const Waiter& ahead, LockMode ahead_mode, const LockRequest& request) {
  const bool conflict = ahead_mode == LockMode::kExclusive || request.mode == LockMode::kExclusive;
  return conflict && !(ahead.wanted[ahead.reached].key < request.key);
}

bool LockManager::Advance(Waiter& waiter) const {
  // From the start each time: an earlier arrival may have taken a key that this one had passed.
  for (waiter.reached = 0; waiter.reached < waiter.wanted.size(); ++waiter.reached) {
    const LockRequest& request = waiter.wanted[waiter.reached];
    const auto found = resources_.find(request.key);
    if (found == resources_.end()) continue;
    const Resource& resource = found->second;
    if (HeldByStrangers(resource, waiter.who, waiter.ancestors, request.mode)) return false;
    if (resource.line.empty() || resource.line.begin()->first >= waiter.arrival) continue;
    if (Covered(waiter.ancestors, request)) continue;  // those in line wait for its ancestor
    for (const auto& [arrival, entry] : resource.line) {
      if (arrival >= waiter.arrival) break;
      if (BlocksInLine(*entry.first, entry.second, request)) return false;
    }
  }
  return true;
}

void LockManager::Take(ProcId who, const LockRequest& request) {
  Resource& resource = resources_[request.key];
  if (request.mode == LockMode::kShared) {
    ++resource.shared[who];
    return;
  }
  for (auto& [holder, count] : resource.exclusive) {
    if (holder != who) continue;
    ++count;
    return;
  }
  resource.exclusive.emplace_back(who, 1);
}

void LockManager::TakeAll(ProcId who, const std::vector<LockRequest>& requests) {
  if (requests.empty()) return;
  for (const LockRequest& request : requests) Take(who, request);
  std::vector<LockRequest>& all = held_[who];  // it may hold what its children have left it
  all.insert(all.end(), requests.begin(), requests.end());
}

void LockManager::Drop(ProcId who, const LockRequest& request) {
  Resource& resource = resources_[request.key];
  if (request.mode == LockMode::kExclusive) {
    const auto found = std::find_if(resource.exclusive.begin(), resource.exclusive.end(),
                                    [who](const auto& entry) { return entry.first == who; });
    RATCHET_CHECK(found != resource.exclusive.end(), "{} is not held by pid {}", request.key.ToString(), who);
    if (--found->second == 0) resource.exclusive.erase(found);
  } else {
    const auto found = resource.shared.find(who);
    RATCHET_CHECK(found != resource.shared.end(), "{} is not shared by pid {}", request.key.ToString(), who);
    if (--found->second == 0) resource.shared.erase(found);
  }
  Forget(request.key);
}

void LockManager::Forget(const ResourceKey& key) {
  const auto found = resources_.find(key);
  if (found != resources_.end() && found->second.idle()) resources_.erase(found);
}

bool LockManager::TryNow(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted) {
  RATCHET_CHECK(!waiting_.contains(who), "pid {} asks for locks twice", who);
  Waiter attempt{who, ++arrivals_, {ancestors.begin(), ancestors.end()}, wanted, 0};
  if (!Advance(attempt)) return false;
  TakeAll(who, attempt.wanted);
  return true;
}

bool LockManager::Request(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted) {
  if (TryNow(who, ancestors, wanted)) return true;
  auto waiter = std::make_unique<Waiter>(
      Waiter{who, ++arrivals_, {ancestors.begin(), ancestors.end()}, wanted, 0});
  const bool grantable = Advance(*waiter);
  RATCHET_CHECK(!grantable, "pid {} can be granted what it could not", who);
  for (const LockRequest& request : waiter->wanted) {
    resources_[request.key].line.emplace(waiter->arrival, std::pair(waiter.get(), request.mode));
  }
  waiting_.emplace(who, std::move(waiter));
  return false;
}

void LockManager::LeaveLines(Waiter& waiter) {
  for (const LockRequest& request : waiter.wanted) resources_[request.key].line.erase(waiter.arrival);
}

void LockManager::Cancel(ProcId who, std::vector<ProcId>& granted) {
  const auto found = waiting_.find(who);
  if (found == waiting_.end()) return;
  const std::unique_ptr<Waiter> waiter = std::move(found->second);
  waiting_.erase(found);
  LeaveLines(*waiter);
  Serve(waiter->wanted, granted);
}

void LockManager::Serve(const std::vector<LockRequest>& keys, std::vector<ProcId>& granted) {
  // All who stand in one of these lines, oldest first. Whoever moves on may free a place at keys that it has passed only for
  // those behind it, which this pass still meets; whoever is granted leaves its lines as a holder, which frees nobody.
  std::map<std::uint64_t, Waiter*> candidates;
  for (const LockRequest& key : keys) {
    const auto found = resources_.find(key.key);
    if (found == resources_.end()) continue;
    const bool relatives = !found->second.exclusive.empty() || !found->second.shared.empty();
    for (const auto& [arrival, entry] : found->second.line) {
      candidates.emplace(arrival, entry.first);
      // Behind an exclusive request that has reached this key nobody in this line can move, granted or not; only relatives
      // of a holder may pass it, and they are all looked at when one of their own lets go or hands over.
      const Waiter& waiter = *entry.first;
      if (!relatives && entry.second == LockMode::kExclusive && !(waiter.wanted[waiter.reached].key < key.key)) break;
    }
  }
  for (const auto& [arrival, waiter] : candidates) {
    if (!Advance(*waiter)) continue;
    const ProcId who = waiter->who;
    std::unique_ptr<Waiter> owned = std::move(waiting_.at(who));
    waiting_.erase(who);
    LeaveLines(*owned);
    TakeAll(who, owned->wanted);
    granted.push_back(who);
  }
  for (const LockRequest& key : keys) Forget(key.key);
}

void LockManager::Release(ProcId who, std::vector<ProcId>& granted) {
  const auto found = held_.find(who);
  if (found == held_.end()) return;
  const std::vector<LockRequest> freed = std::move(found->second);
  held_.erase(found);
  for (const LockRequest& request : freed) Drop(who, request);
  Serve(freed, granted);
}

void LockManager::Retain(ProcId who, const std::vector<LockRequest>& keep, std::vector<ProcId>& granted) {
  const auto found = held_.find(who);
  if (found == held_.end()) return;
  std::vector<LockRequest> rest = keep;
  std::vector<LockRequest> freed;
  for (const LockRequest& request : found->second) {
    const auto kept = std::find(rest.begin(), rest.end(), request);
    if (kept != rest.end()) {
      rest.erase(kept);
    } else {
      freed.push_back(request);
    }
  }
  RATCHET_CHECK(rest.empty(), "pid {} does not hold {}", who, rest.front().key.ToString());
  if (keep.empty()) {
    held_.erase(found);
  } else {
    found->second = keep;
  }
  for (const LockRequest& request : freed) Drop(who, request);
  Serve(freed, granted);
}

void LockManager::HandOver(ProcId from, ProcId to, std::vector<ProcId>& granted) {
  const auto found = held_.find(from);
  if (found == held_.end()) return;
  const std::vector<LockRequest> moved = std::move(found->second);
  held_.erase(found);
  std::vector<LockRequest>& target = held_[to];
  for (const LockRequest& request : moved) {
    Take(to, request);
    Drop(from, request);
    target.push_back(request);
  }
  Serve(moved, granted);
}

Status LockManager::Restore(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& held) {
  for (const LockRequest& request : held) {
    const auto found = resources_.find(request.key);
    if (found == resources_.end() || !HeldByStrangers(found->second, who, ancestors, request.mode)) continue;
    std::string others;
    for (const auto& [holder, count] : found->second.exclusive) others += fmt::format(" {}", holder);
    for (const auto& [holder, count] : found->second.shared) others += fmt::format(" {}", holder);
    return Error(Code::kFailedPrecondition, fmt::format("{} is recorded as held by pid {} and also by{}",
                                                        request.key.ToString(), who, others));
  }
  TakeAll(who, held);
  return Ok();
}

const std::vector<LockRequest>& LockManager::Held(ProcId who) const {
  static const std::vector<LockRequest> kNone;
  const auto found = held_.find(who);
  return found == held_.end() ? kNone : found->second;
}

std::vector<LockInfo> LockManager::List() const {
  std::vector<LockInfo> all;
  for (const auto& [key, resource] : resources_) {
    LockInfo& info = all.emplace_back();
    info.key = key;
    if (!resource.exclusive.empty()) info.mode = LockMode::kExclusive;
    for (const auto& [holder, count] : resource.exclusive) info.holders.push_back(holder);
    for (const auto& [holder, count] : resource.shared) info.holders.push_back(holder);
    std::sort(info.holders.begin(), info.holders.end());
    info.holders.erase(std::unique(info.holders.begin(), info.holders.end()), info.holders.end());
    for (const auto& [arrival, entry] : resource.line) info.waiters.push_back({entry.first->who, entry.second});
  }
  std::sort(all.begin(), all.end(), [](const LockInfo& a, const LockInfo& b) { return a.key < b.key; });
  return all;
}

LockManager::Blocked LockManager::BlockedBy(ProcId who) const {
  Blocked blocked;
  const auto found = waiting_.find(who);
  if (found == waiting_.end()) return blocked;
  Waiter waiter = *found->second;
  if (Advance(waiter)) return blocked;
  const LockRequest& request = waiter.wanted[waiter.reached];
  blocked.key = request.key;
  const Resource& resource = resources_.at(request.key);
  const auto family = [&waiter](ProcId holder) {
    return holder == waiter.who ||
           std::find(waiter.ancestors.begin(), waiter.ancestors.end(), holder) != waiter.ancestors.end();
  };
  for (const auto& [holder, count] : resource.exclusive) {
    if (!family(holder)) blocked.holders.push_back(holder);
  }
  for (const auto& [holder, count] : resource.shared) {
    if (request.mode == LockMode::kExclusive && !family(holder)) blocked.holders.push_back(holder);
  }
  std::sort(blocked.holders.begin(), blocked.holders.end());
  if (Covered(waiter.ancestors, request)) return blocked;
  for (const auto& [arrival, entry] : resource.line) {
    if (arrival >= waiter.arrival) break;
    if (BlocksInLine(*entry.first, entry.second, request)) blocked.ahead.push_back(entry.first->who);
  }
  return blocked;
}

Status LockManager::CheckOrder(std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted) const {
  const ResourceKey* last = nullptr;
  for (const ProcId ancestor : ancestors) {
    for (const LockRequest& request : Held(ancestor)) {
      if (last == nullptr || *last < request.key) last = &request.key;
    }
  }
  if (last == nullptr) return Ok();
  for (const LockRequest& request : wanted) {
    if (*last < request.key || Covered(ancestors, request)) continue;
    return Error(Code::kInvalidArgument, fmt::format("wants {}, which comes before {} that an ancestor holds (lock order)",
                                                     request.key.ToString(), last->ToString()));
  }
  return Ok();
}

}  // namespace ratchet::procedure
