#include "chaos/report/traffic_sampler.h"

#include "common/base/clock.h"
#include "common/base/thread_name.h"

namespace ratchet::chaos {
namespace {
constexpr Millis kInterval{200};
constexpr std::int64_t kWindowMs = 1000;
}  // namespace

double RateOf(const std::vector<TrafficSample>& samples) {
  if (samples.size() < 2) return 0;
  const TrafficSample& newest = samples.back();
  std::size_t from = samples.size() - 2;
  while (from > 0 && newest.at_ms - samples[from].at_ms < kWindowMs) --from;
  const std::int64_t span = newest.at_ms - samples[from].at_ms;
  if (span <= 0) return 0;
  return static_cast<double>(newest.ok - samples[from].ok) * 1000.0 / static_cast<double>(span);
}

TrafficSampler::TrafficSampler(Total total) : total_(std::move(total)), thread_([this] { Run(); }) {}

TrafficSampler::~TrafficSampler() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

double TrafficSampler::Rate() const {
  MutexLock lock(mutex_);
  return RateOf(samples_);
}

std::vector<TrafficSample> TrafficSampler::Samples() const {
  MutexLock lock(mutex_);
  return samples_;
}

void TrafficSampler::Run() {
  SetThreadName("sampler");
  const SystemClock clock;
  MutexLock lock(mutex_);
  while (!stopping_) {
    const WorkloadCounters counters = total_();
    samples_.push_back({clock.WallMillis(), counters.ok, counters.unknown});
    changed_.WaitFor(mutex_, kInterval);
  }
}

}  // namespace ratchet::chaos
