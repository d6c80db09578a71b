// Fixed-width little-endian numbers in byte strings.
#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <string>

namespace ratchet::io {

static_assert(std::endian::native == std::endian::little,
              "stored numbers are little-endian; add byte swaps for this machine");

template <std::unsigned_integral T>
void PutFixed(char* out, T value) {
  std::memcpy(out, &value, sizeof(value));
}

template <std::unsigned_integral T>
[[nodiscard]] T GetFixed(const char* in) {
  T value;
  std::memcpy(&value, in, sizeof(value));
  return value;
}

}  // namespace ratchet::io
