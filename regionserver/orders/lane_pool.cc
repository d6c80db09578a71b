#include "regionserver/orders/lane_pool.h"

#include <utility>

namespace ratchet::regionserver {

LanePool::LanePool(const LaneThreads& threads) {
  const auto add = [this](const char* name, int count) {
    lanes_.emplace_back(ThreadPool::Options{.name = name, .threads = static_cast<std::size_t>(count)});
  };
  add("order-meta", threads.meta);
  add("order-region", threads.regions);
  add("order-split", threads.split_log);
  add("flush", threads.flush);
  add("flush-meta", threads.meta_flush);
  add("compact-small", threads.small_compact);
  add("compact-large", threads.large_compact);
  add("admin", threads.admin);
  add("order-copy", threads.copy);
  add("order-build", threads.build);
}

LanePool::~LanePool() { Stop(); }

void LanePool::Stop() {
  for (ThreadPool& lane : lanes_) lane.BeginStop();
  for (ThreadPool& lane : lanes_) lane.Stop();
}

void LanePool::Run(Lane lane, std::function<void()> work) {
  static_cast<void>(lanes_[static_cast<std::size_t>(lane)].Submit({std::move(work)}));  // false only after Stop
}

}  // namespace ratchet::regionserver
