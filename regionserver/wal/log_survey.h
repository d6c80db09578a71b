// Finds out what a splitter needs to know about a log before it writes: which regions it has, how much of each, and
// whether a region's sequences fall. It reads the log record by record and keeps a few words for each region.
//
// The writer or the disk may be faulty, so every byte is validated. Each error names the log and the offset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/base/result.h"
#include "common/io/record_log.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Calls `take` for each entry below the seal, in order, also after damage; an error of `take` ends the walk.
// kCorruption, after the whole walk: the first damage, with its offset, also when the last record is not the sealed
// one. Errors of the disk end the walk.
struct EntryWalk {
  std::string log;                         // "<server>/<file>", for messages
  std::uint64_t sealed_last_sequence = 0;  // record sequence
  std::function<Status(const io::Record& record, const LogEntryKey& key)> take;
};
[[nodiscard]] Status WalkEntries(io::RecordReader& reader, const EntryWalk& walk);

// One region's part of a log.
struct RegionShare {
  std::uint64_t entries = 0;
  std::uint64_t covered = 0;  // entries that store files cover, according to the order
  std::uint64_t bytes = 0;    // size of the payloads
  std::uint64_t last_sequence = 0;
  // A region's sequences rise through all openings of its life. If they fall, an opening began without knowledge of the
  // earlier entries: no manifest of its line covers these entries, however high its flushed sequence is (S56: falling
  // sequences are replayed).
  std::uint64_t fell_to = UINT64_MAX;  // the lowest sequence after a fall
  std::uint64_t last_fall = 0;         // offset of the last entry whose sequence fell

  void Add(std::uint64_t offset, std::uint64_t sequence, std::uint64_t size);
  [[nodiscard]] bool IsNeeded() const { return covered < entries || last_fall != 0; }
  // True for an entry of a line that ended: its sequence was used again.
  [[nodiscard]] bool IsOfAnEarlierLine(std::uint64_t offset, std::uint64_t sequence) const {
    return offset < last_fall && sequence >= fell_to;
  }
};
using LogSurvey = std::map<std::string, RegionShare, std::less<>>;

}  // namespace ratchet::regionserver
