// Which procedure runs next: strict classes, round robin between the resources of one class, first come first served within
// one resource. Pure; the executor's session guards it.
//
// Procedures stand here only once they hold the locks that they need, so a queue whose resource is locked exclusively by
// somebody else has, by construction, nothing in the run queue: its procedures wait in the lock manager's lines.
//
// Adding and polling touch only links inside the items: no allocation, constant time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "common/base/check.h"
#include "procedure/lock_request.h"
#include "procedure/procedure.h"

namespace ratchet::procedure {

class RunQueue;

// Embedded in what is scheduled.
struct SchedItem {
  SchedItem* prev = nullptr;
  SchedItem* next = nullptr;
  RunQueue* queue = nullptr;  // its resource's queue; set by Scheduler::Bind
  void* owner = nullptr;
  bool queued = false;
  bool urgent = false;        // may run on the reserved capacity
};

// A doubly linked list of items or queues through their own links.
template <class T>
struct Links {
  T* head = nullptr;
  T* tail = nullptr;
  [[nodiscard]] bool empty() const { return head == nullptr; }
  void PushBack(T* item) {
    item->next = nullptr;
    item->prev = tail;
    (tail != nullptr ? tail->next : head) = item;
    tail = item;
  }
  void PushFront(T* item) {
    item->prev = nullptr;
    item->next = head;
    (head != nullptr ? head->prev : tail) = item;
    head = item;
  }
  void Remove(T* item) {
    (item->prev != nullptr ? item->prev->next : head) = item->next;
    (item->next != nullptr ? item->next->prev : tail) = item->prev;
    item->prev = item->next = nullptr;
  }
};

// All runnable procedures of one resource, urgent ones apart so that the reserved worker finds them at once.
class RunQueue {
 public:
  RunQueue(ResourceKey key, std::size_t rank) : key_(std::move(key)), rank_(rank) {}

 private:
  friend class Scheduler;
  friend struct Links<RunQueue>;
  ResourceKey key_;
  std::size_t rank_;
  std::size_t bound_ = 0;  // items that name this queue
  bool in_ring_ = false;
  Links<SchedItem> items_;
  RunQueue* prev = nullptr;
  RunQueue* next = nullptr;
};

class Scheduler {
 public:
  // Gives the item its queue. Every Bind is ended by Unbind, when the item is not queued.
  void Bind(SchedItem& item, Priority priority, const ResourceKey& resource, bool urgent);
  void Unbind(SchedItem& item);

  void AddFront(SchedItem& item) { Add(item, true); }
  void AddBack(SchedItem& item) { Add(item, false); }
  void Remove(SchedItem& item);
  // Null when there is nothing (urgent_only: nothing urgent).
  SchedItem* Poll(bool urgent_only);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t urgent() const { return urgent_; }

 private:
  // One rank per Priority above kByLocks, urgent and ordinary items of one resource in different queues.
  static constexpr std::size_t kRanks = 7;
  struct QueueId {
    ResourceKey key;
    std::size_t rank;
    bool urgent;
    bool operator==(const QueueId&) const = default;
  };
  struct QueueIdHash {
    std::size_t operator()(const QueueId& id) const {
      return std::hash<ResourceKey>{}(id.key) * 31 + id.rank * 2 + (id.urgent ? 1 : 0);
    }
  };
  void Add(SchedItem& item, bool front);
  SchedItem* PollRing(Links<RunQueue>& ring);

  std::unordered_map<QueueId, std::unique_ptr<RunQueue>, QueueIdHash> queues_;
  // Per rank: urgent queues, ordinary queues. An urgent one goes first within its rank.
  std::array<std::array<Links<RunQueue>, 2>, kRanks> rings_;
  std::size_t size_ = 0;
  std::size_t urgent_ = 0;
};

}  // namespace ratchet::procedure
