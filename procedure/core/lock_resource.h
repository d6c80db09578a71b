// One lockable resource inside the lock manager: its holders and its queues. Only for lock_manager*.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "procedure/core/intrusive_list.h"
#include "procedure/core/lock_holder.h"

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

}  // namespace ratchet::procedure
