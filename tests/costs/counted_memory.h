// Counts of the heap of a program that links counted_memory.cc, which replaces the operators new and delete. Memory
// that C libraries take with malloc is not counted.
#pragma once

#include <cstdint>

namespace ratchet::costs {

struct Memory {
  std::uint64_t allocations = 0;  // since the start of the program
  std::uint64_t bytes = 0;        // that are in use now
};
// Thread-safe.
[[nodiscard]] Memory CountedMemory();

}  // namespace ratchet::costs
