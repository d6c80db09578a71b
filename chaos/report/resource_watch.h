// Memory, file descriptors and threads of the cluster's processes, at their highest.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "chaos/verdict/process_checks.h"

namespace ratchet::chaos {

// Pure: the first process that is over a limit, or how high the highest one came. No process looked at is no pass.
[[nodiscard]] Finding JudgePeaks(const std::map<std::string, ProcessSample>& peaks, const ProcessLimits& limits = {});

// Of descriptors what counts is what a process still has after some looks: a flood of connections gives it thousands
// for a moment, and a leak stays. Not thread-safe: the driver's thread calls Look now and then.
class ResourceWatch {
 public:
  static constexpr std::size_t kHeldLooks = 15;
  // `pids`: by name.
  void Look(const std::map<std::string, int>& pids);
  [[nodiscard]] const std::map<std::string, ProcessSample>& peaks() const { return peaks_; }

 private:
  std::map<std::string, ProcessSample> peaks_;
  std::map<std::string, std::deque<std::uint64_t>> descriptors_;  // of the last looks
};

}  // namespace ratchet::chaos
