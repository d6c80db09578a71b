#include "chaos/verdict/process_checks.h"

#include <filesystem>
#include <fstream>

#include <fmt/core.h>

namespace ratchet::chaos {

Result<ProcessSample> SampleProcess(int pid) {
  const std::filesystem::path folder = fmt::format("/proc/{}", pid);
  const auto gone = [&] { return Error(Code::kNotFound, fmt::format("process {} does not exist", pid)); };
  ProcessSample sample;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder / "fd", error), end; !error && it != end; it.increment(error))
    ++sample.descriptors;
  if (error) return gone();
  std::ifstream status(folder / "status");
  std::string field;
  while (status >> field) {
    std::uint64_t number = 0;
    if (field == "VmRSS:" && status >> number) sample.resident_bytes = number * 1024;  // the value is in kB
    if (field == "Threads:" && status >> number) sample.threads = number;
  }
  if (sample.threads == 0) return gone();
  return sample;
}

Finding CheckBounded(const std::string& name, const ProcessSample& sample, const ProcessLimits& limits) {
  const bool good = sample.resident_bytes <= limits.resident_bytes && sample.descriptors <= limits.descriptors &&
                    sample.threads <= limits.threads;
  return {good, fmt::format("{}: {} MiB resident (limit {}), {} descriptors (limit {}), {} threads (limit {})", name,
                            sample.resident_bytes >> 20U, limits.resident_bytes >> 20U, sample.descriptors,
                            limits.descriptors, sample.threads, limits.threads)};
}

}  // namespace ratchet::chaos
