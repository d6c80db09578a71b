// How a record of a server's log begins: with the region that it changes, and its sequence. The splitter reads both;
// the fencer reads the region. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

inline constexpr std::uint32_t kServerLogKind = 'L';  // LogIdentity::kind; file_id is LogFileId("<server>/<file>")
inline constexpr std::uint8_t kEntryRecordType = 1;
inline constexpr std::uint8_t kEntryVersion = 1;
// In server logs only: an entry followed by a ShippedPart.
inline constexpr std::uint8_t kShippedEntryVersion = 2;
// In server logs only: an entry without cells, followed by a ShippedPart and an OpeningMark.
inline constexpr std::uint8_t kMarkEntryVersion = 3;
// Larger sequences and times were not written by this program. The limit leaves room for additions.
inline constexpr std::int64_t kLargestPlausible = std::int64_t{1} << 62;

struct LogEntryKey {
  std::string_view region;
  std::uint64_t sequence = 0;
};
// kCorruption when the bytes do not begin like an entry.
[[nodiscard]] Result<LogEntryKey> DecodeLogEntryKey(std::string_view payload);
// Like DecodeLogEntryKey, of a record that must be an entry of a known version, of a region whose name is valid as the
// name of a directory.
[[nodiscard]] Result<LogEntryKey> KeyOfLogRecord(std::uint8_t type, std::uint8_t version, std::string_view payload);

// True if `name` is valid as the name of a directory, because a region's name in a log is used as one.
[[nodiscard]] bool IsDirectoryName(std::string_view name);

}  // namespace ratchet
