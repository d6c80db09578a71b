// The maximum memory of this process so far, for tests that bound it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace ratchet {

// Bytes; 0 if the kernel does not report it.
inline std::uint64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

}  // namespace ratchet
