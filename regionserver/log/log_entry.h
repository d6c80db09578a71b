// One entry of a server's log and of a recovered edits file: an atomic change of one region. Pure encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"

namespace ratchet::regionserver {

// LogIdentity::kind of server logs and of recovered edits. file_id of a log is LogFileId("<server>/<file>"), of
// recovered edits LogFileId("<encoded region>/<file>").
inline constexpr std::uint32_t kServerLogKind = 'L';
inline constexpr std::uint32_t kRecoveredEditsKind = 'E';
inline constexpr std::uint8_t kEntryRecordType = 1;
// Of recovered edits only: no manifest covers the entry, however high its flushed sequence is (S56).
inline constexpr std::uint8_t kUncoveredEntryRecordType = 2;
// Of recovered edits only, without a payload. A file that begins with the first has the second as its last record, or
// it was cut (S53). Files that older servers have split have neither.
inline constexpr std::uint8_t kEditsBeginRecordType = 3;
inline constexpr std::uint8_t kEditsEndRecordType = 4;
inline constexpr std::uint8_t kEntryVersion = 1;
// Of server logs only: an entry with a ShippedPart behind it.
inline constexpr std::uint8_t kShippedEntryVersion = 2;
// Of server logs only: an entry without cells, with a ShippedPart and a RegionTurn behind it.
inline constexpr std::uint8_t kTurnEntryVersion = 3;
// Above it a sequence or a moment was not written by this program: it leaves room for whatever is added to it.
inline constexpr std::int64_t kLargestPlausible = std::int64_t{1} << 62;

// A nonce that was used, as the log and the manifest remember it (S29).
struct UsedNonce {
  std::uint64_t group = 0;
  std::uint64_t value = 0;
  std::int64_t used_ms = 0;  // wall clock, only to forget it some day
  bool operator==(const UsedNonce&) const = default;
};

struct LoggedCell {
  Cell cell;                // with its final timestamp; its tags without a time to live
  std::int64_t ttl_ms = 0;  // 0: none of its own
};

// What replication has to know of an entry; only of one with cells of families with REPLICATION_SCOPE 1. Lost when the
// entry goes into recovered edits: it is shipped from the log.
struct ShippedPart {
  std::string table;                     // "ns:q"; empty: nothing of the entry is shipped
  std::vector<std::string> families;     // those that are shipped
  std::vector<std::string> cluster_ids;  // clusters that it has passed before it came here
  std::int64_t written_ms = 0;           // wall clock, only to tell how late it is
  bool operator==(const ShippedPart&) const = default;
};

// A place in the logs of one server: everything before it. A server's logs are one line, from file to file.
struct QueuePoint {
  std::string server;      // whose logs: the name of their directory
  std::uint64_t file = 0;  // kEndOfQueue: behind all that the server, which is dead then, has written
  std::uint64_t offset = 0;
  bool operator==(const QueuePoint&) const = default;
};
inline constexpr std::uint64_t kEndOfQueue = UINT64_MAX;

// That an opening of a region whose writes are shipped begins or ends here (S113). An entry of its own, which changes
// nothing in the region.
struct RegionTurn {
  bool opens = false;
  // Of one that opens: where the openings before it have ended, those of the region or of those that it was made of.
  std::vector<QueuePoint> after;
  bool operator==(const RegionTurn&) const = default;
};

struct LogEntry {
  std::string region;          // encoded name
  std::uint64_t sequence = 0;  // of the region, rising by opening and entry
  std::vector<LoggedCell> cells;
  std::vector<UsedNonce> nonces;
  std::int64_t greatest_timestamp = 0;  // greatest one that the server has assigned in this region so far (S27)
  ShippedPart shipped{};
  std::optional<RegionTurn> turn{};  // only with a table in `shipped`
};

void EncodeLogEntry(const LogEntry& entry, std::string& out);
[[nodiscard]] inline std::uint8_t VersionOf(const LogEntry& entry) {
  if (entry.shipped.table.empty()) return kEntryVersion;
  return entry.turn ? kTurnEntryVersion : kShippedEntryVersion;
}
// At least what the cell takes in an entry, bytes.
[[nodiscard]] std::uint64_t LoggedSize(const CellView& cell);
// kCorruption when the bytes are not an entry.
[[nodiscard]] Result<LogEntry> DecodeLogEntry(std::string_view payload);
class ByteReader;
void PutQueuePoints(std::string& out, const std::vector<QueuePoint>& points);
// False: what is there is none. A server's name can be a directory's (S55).
[[nodiscard]] bool TakeQueuePoints(ByteReader& in, std::vector<QueuePoint>& points);

// Only region and sequence, for splitting.
struct LogEntryKey {
  std::string_view region;
  std::uint64_t sequence = 0;
};
[[nodiscard]] Result<LogEntryKey> DecodeLogEntryKey(std::string_view payload);

}  // namespace ratchet::regionserver
