// CRC-32C (Castagnoli), by ISA-L's hardware routine.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet {

// Continues `crc` over `data`; start with 0. Crc32c("123456789") == 0xE3069283.
[[nodiscard]] std::uint32_t Crc32c(std::string_view data, std::uint32_t crc = 0);

}  // namespace ratchet
