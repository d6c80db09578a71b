#include "chaos/report/resource_watch.h"

#include <algorithm>

namespace ratchet::chaos {
namespace {

void Raise(ProcessSample& peak, const ProcessSample& sample) {
  peak.resident_bytes = std::max(peak.resident_bytes, sample.resident_bytes);
  peak.descriptors = std::max(peak.descriptors, sample.descriptors);
  peak.threads = std::max(peak.threads, sample.threads);
}

}  // namespace

Finding JudgePeaks(const std::map<std::string, ProcessSample>& peaks, const ProcessLimits& limits) {
  ProcessSample highest;
  for (const auto& [name, peak] : peaks) {
    Finding bounded = CheckBounded(name, peak, limits);
    if (!bounded.good) return bounded;
    Raise(highest, peak);
  }
  return CheckBounded("the highest of all processes", highest, limits);
}

void ResourceWatch::Look(ProcessCluster& processes) {
  for (const auto& info : processes.Processes()) {
    if (info.id.pid == 0 || info.role == Role::kZooKeeper) continue;
    const auto sample = SampleProcess(info.id.pid);
    if (sample.ok()) Raise(peaks_[info.name], *sample);
  }
}

}  // namespace ratchet::chaos
