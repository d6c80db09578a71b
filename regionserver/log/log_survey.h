// What a log holds, as far as its splitter needs to know before it writes anything: which regions, how much of each,
// and whether a region's sequences fall. Reads the log record by record and holds a few words for each region.
//
// The bytes were written by a process that may have been wrong, and read from a disk that may be: nothing in them is
// taken for granted, and whatever is wrong is an error that names the log and the offset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/base/result.h"
#include "common/io/record_log.h"
#include "regionserver/log/log_entry.h"

namespace ratchet::regionserver {

// Calls `take` for each entry below the seal, in order, also behind damage; its error ends the walk. kCorruption, after
// the whole walk: the first damage, with its offset, also when the last record is not the sealed one. Errors of the
// disk end the walk.
struct EntryWalk {
  std::string log;                         // "<server>/<file>", for messages
  std::uint64_t sealed_last_sequence = 0;  // of records
  std::function<Status(const io::Record& record, const LogEntryKey& key)> take;
};
[[nodiscard]] Status WalkEntries(io::RecordReader& reader, const EntryWalk& walk);

// One region's part of a log.
struct RegionShare {
  std::uint64_t entries = 0;
  std::uint64_t covered = 0;  // of them, by store files, as the order says
  std::uint64_t bytes = 0;    // of payloads
  std::uint64_t last_sequence = 0;
  // A region's sequences rise through all openings of a life. Where they fall, an opening began that knew nothing of
  // the entries before: no manifest of its line covers these, however high its flushed sequence is (S56).
  std::uint64_t fell_to = UINT64_MAX;  // the lowest sequence after a fall
  std::uint64_t last_fall = 0;         // offset of the last entry whose sequence fell

  void Add(std::uint64_t offset, std::uint64_t sequence, std::uint64_t size);
  [[nodiscard]] bool IsNeeded() const { return covered < entries || last_fall != 0; }
  // An entry of a line that ended: its sequence was used again.
  [[nodiscard]] bool IsOfAnEarlierLine(std::uint64_t offset, std::uint64_t sequence) const {
    return offset < last_fall && sequence >= fell_to;
  }
};
using LogSurvey = std::map<std::string, RegionShare, std::less<>>;

// The name of a directory in its parent: a region's name in a log is used as one.
[[nodiscard]] bool IsDirectoryName(std::string_view name);

}  // namespace ratchet::regionserver
