#include "common/base/crc32c.h"

#include <algorithm>
#include <climits>

#include <isa-l/crc.h>

namespace ratchet {

std::uint32_t Crc32c(std::string_view data, std::uint32_t crc) {
  std::uint32_t state = ~crc;
  while (!data.empty()) {
    const auto chunk = std::min<std::size_t>(data.size(), INT_MAX);
    // The library takes a non-const pointer and does not write through it.
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(data.data()));
    state = crc32_iscsi(bytes, static_cast<int>(chunk), state);
    data.remove_prefix(chunk);
  }
  return ~state;
}

}  // namespace ratchet
