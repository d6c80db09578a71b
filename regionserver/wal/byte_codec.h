// Signed numbers, and a reader of what common/base/varint.h writes, for log entries, manifests and keys. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/varint.h"

namespace ratchet::regionserver {

// Encodes small magnitudes of either sign in few bytes.
inline void PutSigned(std::string& out, std::int64_t value) {
  PutVarint(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

// Reads what the functions above wrote. After a malformed field ok() stays false, and every read returns zero or an
// empty value.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    if (GetVarint(rest_, &value)) return value;
    Fail();
    return 0;
  }
  std::int64_t Signed() {
    const std::uint64_t raw = Varint();
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  std::string_view Bytes() {
    std::string_view bytes;
    if (!GetBytes(rest_, &bytes)) Fail();
    return bytes;
  }
  // Reads a count of items of at least one byte each.
  std::uint64_t Count() {
    const std::uint64_t count = Varint();
    if (count > rest_.size()) Fail();
    return ok_ ? count : 0;
  }
  // Returns the bytes that have not been read.
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
