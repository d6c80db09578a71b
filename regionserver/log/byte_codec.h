// Varints and length-prefixed strings, for log entries, manifests and keys. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ratchet::regionserver {

inline void PutVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Small magnitudes of either sign stay short.
inline void PutSigned(std::string& out, std::int64_t value) {
  PutVarint(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

inline void PutBytes(std::string& out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out.append(bytes);
}

// Reads what was put. After a malformed field ok() is false for good and every read yields zero or nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  std::int64_t Signed() {
    const std::uint64_t raw = Varint();
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  std::string_view Bytes() {
    const std::uint64_t length = Varint();
    if (length > rest_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return bytes;
  }
  // A count of things of at least one byte each.
  std::uint64_t Count() {
    const std::uint64_t count = Varint();
    if (count > rest_.size()) Fail();
    return ok_ ? count : 0;
  }
  // What has not been read.
  [[nodiscard]] std::string_view Rest() const { return rest_; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace ratchet::regionserver
