#include "regionserver/wal/log_survey.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace ratchet::regionserver {
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
      const Result<LogEntryKey> key = KeyOfLogRecord(record.type, record.version, record.payload);
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
