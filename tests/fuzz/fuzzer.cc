// One libFuzzer program per target, which FUZZ_TARGET names. With RATCHET_FUZZ_SEEDS=DIRECTORY it first writes the
// target's well-formed inputs there, as an initial corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "tests/fuzz/targets.h"

#ifndef FUZZ_TARGET  // the build of each program defines it; without it the file still compiles by itself
#define FUZZ_TARGET kFrames
#endif

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* directory = std::getenv("RATCHET_FUZZ_SEEDS");
  if (directory == nullptr) return 0;
  int number = 0;
  for (const std::string& seed : ratchet::fuzz::FUZZ_TARGET.seeds()) {
    const std::string path = fmt::format("{}/seed-{}", directory, ++number);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << seed;
    if (file.good()) continue;
    std::fprintf(stderr, "cannot write %s: RATCHET_FUZZ_SEEDS names a directory that is there\n", path.c_str());
    return std::exit(1), 0;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ratchet::fuzz::FUZZ_TARGET.feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
