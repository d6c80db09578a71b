// The bytes of log headers and record headers; shared by the writer and the reader of record_log.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/crc32c.h"
#include "common/io/little_endian.h"
#include "common/io/record_log.h"

namespace ratchet::io {

inline constexpr std::string_view kLogMagic = "RATCHLOG";
inline constexpr std::uint32_t kLogFormat = 1;

struct LogHeaderLayout {
  static constexpr std::size_t kFormat = 8, kKind = 12, kFileId = 16, kCrc = 28;
};
struct RecordHeaderLayout {
  static constexpr std::size_t kCrc = 0, kLength = 4, kSequence = 8, kUnsynced = 16, kType = 20, kVersion = 21,
                               kZero = 22;
};

[[nodiscard]] constexpr std::uint64_t AlignRecord(std::uint64_t size) {
  return (size + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

// The beginning of a record's checksum: its place.
[[nodiscard]] inline std::uint32_t PlaceCrc(std::uint64_t file_id, std::uint64_t offset) {
  char place[16];
  PutFixed(place, file_id);
  PutFixed(place + 8, offset);
  return Crc32c(std::string_view(place, sizeof(place)));
}

// `record` is header and payload without padding; the checksum field itself is left out.
[[nodiscard]] inline std::uint32_t RecordCrc(std::uint64_t file_id, std::uint64_t offset, std::string_view record) {
  return Crc32c(record.substr(RecordHeaderLayout::kLength), PlaceCrc(file_id, offset));
}

}  // namespace ratchet::io
