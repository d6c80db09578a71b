#include "common/model/log_entry_key.h"

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/varint.h"

namespace ratchet {

Result<LogEntryKey> DecodeLogEntryKey(std::string_view payload) {
  LogEntryKey key;
  const bool read = GetBytes(payload, &key.region) && GetVarint(payload, &key.sequence);
  if (!read || key.sequence > static_cast<std::uint64_t>(kLargestPlausible))
    return Error(Code::kCorruption, "log entry is malformed although its checksum is right");
  return key;
}

Result<LogEntryKey> KeyOfLogRecord(std::uint8_t type, std::uint8_t version, std::string_view payload) {
  const bool known = version >= kEntryVersion && version <= kMarkEntryVersion;
  if (type != kEntryRecordType || !known)
    return Error(Code::kCorruption, fmt::format("record of unknown type {} version {}", type, version));
  RATCHET_ASSIGN(const LogEntryKey key, DecodeLogEntryKey(payload));
  if (!IsDirectoryName(key.region) && !RATCHET_MUTANT("split.trust_names"))
    return Error(Code::kCorruption, "an entry with an invalid region name");
  return key;
}

bool IsDirectoryName(std::string_view name) {
  constexpr std::size_t kLongestName = 255;
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

}  // namespace ratchet
