// Measures the memory that a region server needs for each open region (tests/costs/open_regions.h), with what the C
// library adds to each piece. Not a test.
//
// region_memory_bench [regions] [dir]. Prints the bytes of the heap for each region, beyond those of the server.
#include <malloc.h>

#include <string>

#include <fmt/core.h>

#include "common/base/log.h"
#include "tests/costs/open_regions.h"

int main(int argc, char** argv) {
  using namespace ratchet;  // NOLINT(google-build-using-namespace)
  ConfigureLog({LogLevel::kError, {}});
  const std::size_t regions = argc > 1 ? std::stoul(argv[1]) : 2'000;
  const auto heap = [] {
    const struct mallinfo2 info = mallinfo2();
    return std::uint64_t{info.uordblks + info.hblkhd};
  };
  const std::string dir = argc > 2 ? argv[2] : "build/bench/region_memory";
  fmt::print("RESULT [regions={}, bytes a region={}]\n", regions, costs::BytesAnOpenRegion(dir, regions, heap));
  return 0;
}
