#include "regionserver/wal/log_survey.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kLongestName = 255;

Result<LogEntryKey> KeyOf(const io::Record& record) {
  const bool known = record.version >= kEntryVersion && record.version <= kMarkEntryVersion;
  if (record.type != kEntryRecordType || !known)
    return Error(Code::kCorruption, fmt::format("record of unknown type {} version {}", record.type, record.version));
  RATCHET_ASSIGN(const LogEntryKey key, DecodeLogEntryKey(record.payload));
  if (!IsDirectoryName(key.region) && !RATCHET_MUTANT("split.trust_names"))
    return Error(Code::kCorruption, "an entry with an invalid region name");
  return key;
}

}  // namespace

bool IsDirectoryName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

Status WalkEntries(io::RecordReader& reader, const EntryWalk& walk) {
  std::optional<Error> damage;
  const auto damaged = [&](std::uint64_t offset, std::string_view why) {
    if (!damage)
      damage = Error(Code::kCorruption, fmt::format("log {} is damaged at offset {}: {}", walk.log, offset, why));
  };
  io::Record record;
  std::uint64_t last_sequence = 0;
  do {
    while (reader.Next(&record)) {
      last_sequence = record.sequence;
      const Result<LogEntryKey> key = KeyOf(record);
      if (!key.ok()) {
        damaged(record.offset, key.error().message());
        continue;
      }
      RATCHET_TRY(walk.take(record, *key));
    }
    if (!reader.status().ok()) return reader.status().error().Annotate("log " + walk.log);
    if (reader.tail().end != io::LogEnd::kClean) damaged(reader.tail().offset, reader.tail().reason);
  } while (reader.SkipDamage());
  if (last_sequence != walk.sealed_last_sequence)
    damaged(reader.tail().offset,
            fmt::format("the last record is {}, but the seal has {}", last_sequence, walk.sealed_last_sequence));
  return damage ? Status(*damage) : Ok();
}

void RegionShare::Add(std::uint64_t offset, std::uint64_t sequence, std::uint64_t size) {
  if (entries > 0 && sequence <= last_sequence) {
    fell_to = std::min(fell_to, sequence);
    last_fall = offset;
  }
  ++entries;
  bytes += size;
  last_sequence = sequence;
}

}  // namespace ratchet::regionserver
