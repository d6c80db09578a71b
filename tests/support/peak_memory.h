// The most memory that this process has had at once, for tests that bound it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace ratchet {

// Bytes; 0 where the kernel does not say.
inline std::uint64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

}  // namespace ratchet
