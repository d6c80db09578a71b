// Variable-length numbers and length-prefixed bytes: seven bits a byte, lowest first, as in protocol buffers. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ratchet {

inline constexpr std::size_t kMaxVarintBytes = 10;

inline void PutVarint(std::string& out, std::uint64_t value) {
  char bytes[kMaxVarintBytes];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

inline void PutBytes(std::string& out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out.append(bytes);
}

// Both remove the parsed bytes from `in`. They return false if the number is cut short, too long, or above 64 bits.
[[nodiscard]] inline bool GetVarint(std::string_view& in, std::uint64_t* value) {
  *value = 0;
  for (std::size_t i = 0; i < in.size() && i < kMaxVarintBytes; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    if (i + 1 == kMaxVarintBytes && byte > 1) return false;
    *value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

[[nodiscard]] inline bool GetBytes(std::string_view& in, std::string_view* bytes) {
  std::uint64_t size = 0;
  if (!GetVarint(in, &size) || size > in.size()) return false;
  *bytes = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

}  // namespace ratchet
