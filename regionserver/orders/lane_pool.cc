#include "regionserver/orders/lane_pool.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/thread_name.h"

namespace ratchet::regionserver {

LanePool::LanePool(LaneThreads threads) {
  const int counts[kLaneCount] = {threads.meta,       threads.regions,       threads.split_log,     threads.flush,
                                  threads.meta_flush, threads.small_compact, threads.large_compact, threads.admin,
                                  threads.copy,       threads.build};
  const char* const names[kLaneCount] = {"order-meta",    "order-region",  "order-split", "flush",      "flush-meta",
                                         "compact-small", "compact-large", "admin",       "order-copy", "order-build"};
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    queues_[lane] = std::make_unique<Queue>();
    for (int i = 0; i < counts[lane]; ++i) {
      threads_.emplace_back(
          [queue = queues_[lane].get(), name = fmt::format("{}-{}", names[lane], i)] { Work(*queue, name); });
    }
  }
}

LanePool::~LanePool() { Stop(); }

void LanePool::Stop() {
  for (auto& queue : queues_) {
    MutexLock lock(queue->mutex);
    queue->stopped = true;
    queue->waiting.clear();
    queue->added.NotifyAll();
  }
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void LanePool::Run(Lane lane, std::function<void()> work) {
  Queue& queue = *queues_[static_cast<std::size_t>(lane)];
  MutexLock lock(queue.mutex);
  if (queue.stopped) return;
  queue.waiting.push_back(std::move(work));
  queue.added.NotifyOne();
}

void LanePool::Work(Queue& queue, const std::string& name) {
  SetThreadName(name);
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(queue.mutex);
      while (queue.waiting.empty() && !queue.stopped) queue.added.Wait(queue.mutex);
      if (queue.stopped) return;
      work = std::move(queue.waiting.front());
      queue.waiting.pop_front();
    }
    work();
  }
}

}  // namespace ratchet::regionserver
