// Memory and file descriptors of a process, from /proc: unbounded growth shows in a long run.
#pragma once

#include <cstdint>
#include <string>

#include "chaos/workloads/workload.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct ProcessSample {
  std::uint64_t resident_bytes = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;
};

// kNotFound when the process does not exist.
[[nodiscard]] Result<ProcessSample> SampleProcess(int pid);

struct ProcessLimits {
  std::uint64_t resident_bytes = 1'024U << 20U;  // includes memstores and caches
  std::uint64_t descriptors = 1'024;
  std::uint64_t threads = 300;
};

// `name` is for example "rs-1". Good if every number is within its limit.
[[nodiscard]] Finding CheckBounded(const std::string& name, const ProcessSample& sample,
                                   const ProcessLimits& limits = {});

}  // namespace ratchet::chaos
