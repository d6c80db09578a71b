#include "procedure/core/scheduler.h"

#include <bit>
#include <limits>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::procedure {

std::uint32_t Scheduler::LimitOf(const ResourceKey& key, bool urgent) const {
  std::uint32_t limit = 0;
  if (key.kind == ResourceKind::kTable) limit = limits_.per_table;
  if (key.kind == ResourceKind::kServer) limit = limits_.per_server;
  if (key.kind == ResourceKind::kPeer) limit = limits_.per_peer;
  return limit == 0 || urgent ? std::numeric_limits<std::uint32_t>::max() : limit;
}

void Scheduler::Bind(SchedItem& item, Priority priority, const ResourceKey& resource, bool urgent, bool exclusive) {
  RATCHET_CHECK(item.queue == nullptr && priority != Priority::kByLocks, "item bound twice or without a class");
  const std::size_t rank = static_cast<std::size_t>(priority) - 1;
  std::unique_ptr<RunQueue>& queue = queues_[{resource, rank, urgent}];
  if (queue == nullptr) queue = std::make_unique<RunQueue>(resource, rank, urgent, LimitOf(resource, urgent));
  item.queue = queue.get();
  item.urgent = urgent;
  item.exclusive = exclusive;
  ++queue->bound_;
}

void Scheduler::BindLike(SchedItem& item, const SchedItem& like) {
  RATCHET_CHECK(item.queue == nullptr && like.queue != nullptr, "item bound twice or without a class");
  item.queue = like.queue;
  item.urgent = like.urgent;
  item.exclusive = like.exclusive;
  ++item.queue->bound_;
}

void Scheduler::Unbind(SchedItem& item) {
  if (item.queue == nullptr) return;
  RATCHET_CHECK(!item.queued && !item.running, "item unbound while queued or running");
  RunQueue& queue = *item.queue;
  item.queue = nullptr;
  if (--queue.bound_ == 0) {
    // The queue is found again by its own fields; it is not linked anywhere, because no item names it.
    const QueueId id{queue.key_, queue.rank_, queue.urgent_};
    queues_.erase(id);
  }
}

void Scheduler::Enter(RunQueue& queue) {
  const std::size_t ring = RingOf(queue);
  queue.in_ring_ = true;
  rings_[ring].PushBack(&queue);
  ready_ |= 1U << ring;
}

void Scheduler::Leave(RunQueue& queue) {
  const std::size_t ring = RingOf(queue);
  queue.in_ring_ = false;
  rings_[ring].Remove(&queue);
  if (rings_[ring].empty()) ready_ &= ~(1U << ring);
}

void Scheduler::Add(SchedItem& item, bool front) {
  RATCHET_CHECK(item.queue != nullptr && !item.queued && !item.running, "item added twice or unbound");
  RunQueue& queue = *item.queue;
  if (front) {
    queue.items_.PushFront(&item);
  } else {
    queue.items_.PushBack(&item);
  }
  item.queued = true;
  ++queue.queued_;
  ++size_;
  urgent_ += item.urgent ? 1 : 0;
  // A closed queue enters again with Done, unless its front item is one for which it is open.
  if (!queue.in_ring_ && !queue.Closed(*queue.items_.head)) Enter(queue);
}

void Scheduler::Remove(SchedItem& item) {
  if (!item.queued) return;
  RunQueue& queue = *item.queue;
  queue.items_.Remove(&item);
  item.queued = false;
  --queue.queued_;
  --size_;
  urgent_ -= item.urgent ? 1 : 0;
  const bool open = !queue.items_.empty() && !queue.Closed(*queue.items_.head);
  if (queue.in_ring_ && !open) Leave(queue);
  if (!queue.in_ring_ && open) Enter(queue);
}

std::string Scheduler::HeldBack(const SchedItem& item) {
  if (!item.queued || item.queue->running_ < item.queue->limit_) return {};
  return fmt::format("{} steps of {} run, which is its limit", item.queue->running_, item.queue->key_.ToString());
}

std::vector<Scheduler::Limited> Scheduler::AtTheirLimit() const {
  std::vector<Limited> all;
  for (const auto& [id, queue] : queues_) {
    if (queue->queued_ == 0 || queue->running_ < queue->limit_) continue;
    Limited& limited = all.emplace_back(Limited{queue.get(), queue->key_, queue->limit_, {}});
    for (const SchedItem* item = queue->items_.head; item != nullptr; item = item->next)
      limited.waiting.push_back(item);
  }
  return all;
}

SchedItem* Scheduler::PollRing(std::size_t ring) {
  while (RunQueue* const queue = rings_[ring].head) {
    SchedItem* const item = queue->items_.head;
    // Checked now rather than when its predecessor was taken: the item's memory is fetched by then.
    if (queue->Closed(*item)) {
      Leave(*queue);
      continue;
    }
    queue->items_.PopFront();
    // Prefetches the next item and its owner's locks, so that they are in the cache when this queue is served.
    const auto next = reinterpret_cast<std::uintptr_t>(queue->items_.head);
    for (std::uintptr_t line = 0; line < 3; ++line)
      __builtin_prefetch(reinterpret_cast<const void*>(next + line * 64), 1);
    item->queued = false;
    item->running = true;
    --queue->queued_;
    --size_;
    urgent_ -= item->urgent ? 1 : 0;
    ++queue->running_;
    queue->exclusive_running_ = item->exclusive;
    // The queue was served: it moves to the end of its list, or out of it.
    if (queue->queued_ == 0 || item->exclusive) {
      Leave(*queue);
    } else if (rings_[ring].tail != queue && !RATCHET_MUTANT("procedure.no_turns")) {
      rings_[ring].Remove(queue);
      rings_[ring].PushBack(queue);
    }
    return item;
  }
  return nullptr;
}

SchedItem* Scheduler::Poll(bool urgent_only) {
  const std::uint32_t wanted = urgent_only ? kUrgentRings : ~0U;
  while (const std::uint32_t ready = ready_ & wanted) {
    if (SchedItem* item = PollRing(static_cast<std::size_t>(std::countr_zero(ready)))) return item;
  }
  return nullptr;
}

std::size_t Scheduler::Done(SchedItem& item) {
  RATCHET_CHECK(item.running, "item done that was not polled");
  RunQueue& queue = *item.queue;
  item.running = false;
  --queue.running_;
  if (item.exclusive) queue.exclusive_running_ = false;
  if (queue.queued_ == 0 || queue.in_ring_ || queue.Closed(*queue.items_.head)) return 0;
  Enter(queue);
  return queue.queued_;
}

}  // namespace ratchet::procedure
