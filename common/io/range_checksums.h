// CRC32C of any range of a log without reading the range: from the checksums of the bytes before its two ends.
//
// A search for the next good record tries every place of a file, and each place may claim to be a record that reaches
// to the end. To read all of these ranges would take time quadratic in the file's length. Owner: one reader, one
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/io/log_bytes.h"

namespace ratchet::io {

class RangeChecksums {
 public:
  // For ranges that begin at or after `from`. `bytes` is read once, from there on, as far as ranges reach; it must
  // outlive this object.
  RangeChecksums(LogBytes& bytes, std::uint64_t from) : bytes_(bytes), from_(from) {}

  // CRC32C of [begin, end), which continues `crc`. At most 2 * kEvery bytes are read, through the two windows.
  [[nodiscard]] std::uint32_t Of(std::uint64_t begin, LogBytes& at_begin, std::uint64_t end, LogBytes& at_end,
                                 std::uint32_t crc);

  static constexpr std::uint64_t kEvery = 256;  // bytes between two checksums that are kept

 private:
  [[nodiscard]] std::uint32_t UpTo(std::uint64_t offset, LogBytes& near);

  LogBytes& bytes_;
  const std::uint64_t from_;
  std::vector<std::uint32_t> kept_{0};  // [i]: of [from, from + i * kEvery)
};

// The part of the checksum of A followed by `bytes` more bytes that comes from A: xor it with the checksum of the
// latter.
[[nodiscard]] std::uint32_t ShiftChecksum(std::uint32_t crc, std::uint32_t bytes);

}  // namespace ratchet::io
