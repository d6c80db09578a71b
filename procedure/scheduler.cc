#include "procedure/scheduler.h"

namespace ratchet::procedure {

void Scheduler::Bind(SchedItem& item, Priority priority, const ResourceKey& resource, bool urgent) {
  RATCHET_CHECK(item.queue == nullptr && priority != Priority::kByLocks, "item bound twice or without a class");
  const std::size_t rank = static_cast<std::size_t>(priority) - 1;
  std::unique_ptr<RunQueue>& queue = queues_[{resource, rank, urgent}];
  if (queue == nullptr) queue = std::make_unique<RunQueue>(resource, rank);
  item.queue = queue.get();
  item.urgent = urgent;
  ++queue->bound_;
}

void Scheduler::Unbind(SchedItem& item) {
  if (item.queue == nullptr) return;
  RATCHET_CHECK(!item.queued, "item unbound while queued");
  RunQueue& queue = *item.queue;
  item.queue = nullptr;
  if (--queue.bound_ == 0) {
    // Found again by its own fields; nothing of it is linked, because no item names it.
    const QueueId id{queue.key_, queue.rank_, item.urgent};
    queues_.erase(id);
  }
}

void Scheduler::Add(SchedItem& item, bool front) {
  RATCHET_CHECK(item.queue != nullptr && !item.queued, "item added twice or unbound");
  RunQueue& queue = *item.queue;
  if (front) {
    queue.items_.PushFront(&item);
  } else {
    queue.items_.PushBack(&item);
  }
  item.queued = true;
  ++size_;
  if (item.urgent) ++urgent_;
  if (!queue.in_ring_) {
    queue.in_ring_ = true;
    rings_[queue.rank_][item.urgent ? 0 : 1].PushBack(&queue);
  }
}

void Scheduler::Remove(SchedItem& item) {
  if (!item.queued) return;
  RunQueue& queue = *item.queue;
  queue.items_.Remove(&item);
  item.queued = false;
  --size_;
  if (item.urgent) --urgent_;
  if (queue.items_.empty()) {
    queue.in_ring_ = false;
    rings_[queue.rank_][item.urgent ? 0 : 1].Remove(&queue);
  }
}

SchedItem* Scheduler::PollRing(Links<RunQueue>& ring) {
  RunQueue* queue = ring.head;
  if (queue == nullptr) return nullptr;
  SchedItem* item = queue->items_.head;
  queue->items_.Remove(item);
  item->queued = false;
  --size_;
  if (item->urgent) --urgent_;
  // Its turn is over: to the end of the ring, or out of it.
  ring.Remove(queue);
  if (queue->items_.empty()) {
    queue->in_ring_ = false;
  } else {
    ring.PushBack(queue);
  }
  return item;
}

SchedItem* Scheduler::Poll(bool urgent_only) {
  if (urgent_only ? urgent_ == 0 : size_ == 0) return nullptr;
  for (auto& rank : rings_) {
    if (SchedItem* item = PollRing(rank[0])) return item;
    if (urgent_only) continue;
    if (SchedItem* item = PollRing(rank[1])) return item;
  }
  return nullptr;
}

}  // namespace ratchet::procedure
