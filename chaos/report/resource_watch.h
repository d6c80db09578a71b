// Peaks of memory, file descriptors and threads of the cluster's processes.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "chaos/verdict/process_checks.h"

namespace ratchet::chaos {

// Pure: returns the first process above a limit, or the highest values. No sampled process is not a pass.
[[nodiscard]] Finding JudgePeaks(const std::map<std::string, ProcessSample>& peaks, const ProcessLimits& limits = {});

// Counts the descriptors that a process still has after several looks: a flood of connections adds thousands for a
// moment, but a leak stays. Not thread-safe: the driver's thread calls Look periodically.
class ResourceWatch {
 public:
  static constexpr std::size_t kHeldLooks = 15;
  // `pids` are keyed by name.
  void Look(const std::map<std::string, int>& pids);
  [[nodiscard]] const std::map<std::string, ProcessSample>& peaks() const { return peaks_; }

 private:
  std::map<std::string, ProcessSample> peaks_;
  std::map<std::string, std::deque<std::uint64_t>> descriptors_;  // descriptors in use at the last checks
};

}  // namespace ratchet::chaos
