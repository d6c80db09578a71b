// Hex digits of texts from outside.
#pragma once

namespace ratchet {

// Returns the value of a hex digit in either case; -1 if the character is not one.
[[nodiscard]] constexpr int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace ratchet
