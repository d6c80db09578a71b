// One libFuzzer program a target: FUZZ_TARGET names it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ratchet::fuzz::FUZZ_TARGET.feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
