// Memory, file descriptors and threads of the cluster's processes, at their highest.
#pragma once

#include <map>
#include <string>

#include "chaos/verdict/process_checks.h"

namespace ratchet::chaos {

// Pure: the first process that is over a limit, or how high the highest one came. Nobody looked at is no pass.
[[nodiscard]] Finding JudgePeaks(const std::map<std::string, ProcessSample>& peaks, const ProcessLimits& limits = {});

// Not thread-safe: the driver's thread calls Look now and then.
class ResourceWatch {
 public:
  // `pids`: by name.
  void Look(const std::map<std::string, int>& pids);
  [[nodiscard]] const std::map<std::string, ProcessSample>& peaks() const { return peaks_; }

 private:
  std::map<std::string, ProcessSample> peaks_;
};

}  // namespace ratchet::chaos
