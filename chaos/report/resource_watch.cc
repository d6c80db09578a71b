#include "chaos/report/resource_watch.h"

#include <algorithm>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

void Raise(ProcessSample& peak, const ProcessSample& sample) {
  peak.resident_bytes = std::max(peak.resident_bytes, sample.resident_bytes);
  peak.descriptors = std::max(peak.descriptors, sample.descriptors);
  peak.threads = std::max(peak.threads, sample.threads);
}

}  // namespace

Finding JudgePeaks(const std::map<std::string, ProcessSample>& peaks, const ProcessLimits& limits) {
  if (peaks.empty()) return {false, "no process was sampled: memory and file descriptors are unknown"};
  ProcessSample highest;
  for (const auto& [name, peak] : peaks) {
    Finding bounded = CheckBounded(name, peak, limits);
    if (!bounded.good) return bounded;
    Raise(highest, peak);
  }
  return CheckBounded(fmt::format("the highest of {} processes", peaks.size()), highest, limits);
}

void ResourceWatch::Look(const std::map<std::string, int>& pids) {
  for (const auto& [name, pid] : pids) {
    auto sample = SampleProcess(pid);
    if (!sample.ok()) continue;
    std::deque<std::uint64_t>& last = descriptors_[name];
    last.push_back(sample->descriptors);
    if (last.size() > kHeldLooks) last.pop_front();
    sample->descriptors = *std::min_element(last.begin(), last.end());
    Raise(peaks_[name], *sample);
  }
}

}  // namespace ratchet::chaos
