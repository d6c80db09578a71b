#include "regionserver/wal/log_survey.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {
namespace {

Result<LogEntryKey> KeyOf(const io::Record& record) {
  RATCHET_ASSIGN(const LogEntryKey key, KeyOfLogRecord(record.type, record.version, record.payload));
  if (!IsDirectoryName(key.region) && !RATCHET_MUTANT("split.trust_names"))
    return Error(Code::kCorruption, "an entry with an invalid region name");
  return key;
}

}  // namespace

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
