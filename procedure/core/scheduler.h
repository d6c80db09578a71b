// Chooses which procedure runs next: strict classes, round robin between the resources of one class, first come first
// served within one resource. Pure; the executor's lock guards it.
//
// A queue leaves the run queue while its resource is used exclusively by a running procedure, or by the maximum that
// may run at once. (The executor adds a procedure only once it holds its locks: procedures that wait for a resource
// that another one holds between two steps are in the lock manager's queues, not here.)
//
// A queue is looked up by name once, when an item is bound; adding and polling touch only links inside the items: no
// allocation, constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/check.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/procedure.h"
#include "procedure/core/lists.h"

namespace ratchet::procedure {

class RunQueue;

// Embedded in each scheduled object.
struct SchedItem {
  SchedItem* prev = nullptr;
  SchedItem* next = nullptr;
  RunQueue* queue = nullptr;  // its resource's queue; set by Scheduler::Bind
  void* owner = nullptr;
  bool queued = false;
  bool running = false;    // polled and not done
  bool urgent = false;     // may run on the reserved capacity
  bool exclusive = false;  // nothing else of its queue runs at the same time
};

// All runnable procedures of one resource. Urgent ones have a queue of their own so that the reserved worker finds them
// at once.
class RunQueue {
 public:
  RunQueue(ResourceKey key, std::size_t rank, bool urgent, std::uint32_t limit)
      : key_(std::move(key)), rank_(rank), urgent_(urgent), limit_(limit) {}

 private:
  friend class Scheduler;
  friend struct Links<RunQueue>;
  [[nodiscard]] bool Closed(const SchedItem& candidate) const {
    return running_ >= limit_ || exclusive_running_ || (candidate.exclusive && running_ > 0);
  }

  const ResourceKey key_;
  const std::size_t rank_;
  const bool urgent_;
  const std::uint32_t limit_;
  std::uint32_t running_ = 0;
  bool exclusive_running_ = false;
  bool in_ring_ = false;
  std::size_t bound_ = 0;  // items that name this queue
  std::size_t queued_ = 0;
  FrontLinks<SchedItem> items_;
  RunQueue* prev = nullptr;
  RunQueue* next = nullptr;
};

class Scheduler {
 public:
  explicit Scheduler(RunLimits limits = {}) : limits_(limits) {}

  // Gives the item its queue. Every Bind is ended by Unbind, when the item is neither queued nor running.
  void Bind(SchedItem& item, Priority priority, const ResourceKey& resource, bool urgent, bool exclusive = false);
  // Gives the item the same queue as `like`, without a lookup.
  void BindLike(SchedItem& item, const SchedItem& like);
  void Unbind(SchedItem& item);

  void AddFront(SchedItem& item) { Add(item, true); }
  void AddBack(SchedItem& item) { Add(item, false); }
  void Remove(SchedItem& item);
  // Null when there is nothing that may run now (urgent_only: nothing urgent). The item runs until Done.
  SchedItem* Poll(bool urgent_only);
  // Ends a run that Poll began. Returns how many items may run now that had to wait for this one.
  std::size_t Done(SchedItem& item);

  // Text: why a queued item does not run although its class is served: its resource's limit. Empty when there is no
  // reason.
  [[nodiscard]] static std::string HeldBack(const SchedItem& item);
  // The queues whose limit holds items back, each with those items in their order. For views: looks at all queues.
  struct Limited {
    const RunQueue* queue;
    ResourceKey key;
    std::uint32_t limit;
    std::vector<const SchedItem*> waiting;
  };
  [[nodiscard]] std::vector<Limited> AtTheirLimit() const;

  [[nodiscard]] std::size_t size() const { return size_; }      // queued, whether they may run now or not
  [[nodiscard]] bool has_ready() const { return ready_ != 0; }  // Poll(false) finds something, unless limits forbid it
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
  // An urgent queue goes first within its rank.
  static std::size_t RingOf(const RunQueue& queue) { return queue.rank_ * 2 + (queue.urgent_ ? 0 : 1); }
  static constexpr std::uint32_t kUrgentRings = 0b01010101010101;

  [[nodiscard]] std::uint32_t LimitOf(const ResourceKey& key, bool urgent) const;
  void Add(SchedItem& item, bool front);
  void Enter(RunQueue& queue);
  void Leave(RunQueue& queue);
  SchedItem* PollRing(std::size_t ring);

  const RunLimits limits_;
  std::array<Links<RunQueue>, kRanks * 2> rings_;
  std::uint32_t ready_ = 0;  // bit i: list i is not empty
  std::size_t size_ = 0;
  std::size_t urgent_ = 0;
  std::unordered_map<QueueId, std::unique_ptr<RunQueue>, QueueIdHash> queues_;
};

}  // namespace ratchet::procedure
