// Samples the number of answered operations of all workloads over time.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "chaos/report/run_record.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {

// Thread-safe; one thread of its own that calls `total` five times a second.
class TrafficSampler {
 public:
  using Total = std::function<WorkloadCounters()>;  // of all workloads; thread-safe
  explicit TrafficSampler(Total total);
  ~TrafficSampler();
  TrafficSampler(const TrafficSampler&) = delete;
  TrafficSampler& operator=(const TrafficSampler&) = delete;

  // Returns answered operations per second, over about the last second.
  [[nodiscard]] double Rate() const;
  [[nodiscard]] std::vector<TrafficSample> Samples() const;

 private:
  void Run();

  const Total total_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<TrafficSample> samples_ GUARDED_BY(mutex_);
  std::thread thread_;
};

// Pure: the rate between the newest sample and the newest one that is at least a second older (or the oldest).
[[nodiscard]] double RateOf(const std::vector<TrafficSample>& samples);

}  // namespace ratchet::chaos
