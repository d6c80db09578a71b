// One entry of a server's log and of a recovered edits file: an atomic change of one region. Pure encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "common/model/log_entry_key.h"

namespace ratchet::regionserver {

// LogIdentity::kind of recovered edits; file_id is LogFileId("<encoded region>/<file>").
inline constexpr std::uint32_t kRecoveredEditsKind = 'E';
// In recovered edits only: no manifest covers the entry, however high its flushed sequence is (S56: falling sequences
// are replayed).
inline constexpr std::uint8_t kUncoveredEntryRecordType = 2;
// In recovered edits only, without a payload. A file that begins with the first type ends with the second, or it was
// truncated (S53: opening starts with full state). Files that older servers split have neither.
inline constexpr std::uint8_t kEditsBeginRecordType = 3;
inline constexpr std::uint8_t kEditsEndRecordType = 4;

// A nonce that was used, as the log and the manifest remember it (S29: durable nonces).
struct UsedNonce {
  std::uint64_t group = 0;
  std::uint64_t value = 0;
  std::int64_t used_ms = 0;  // wall clock, used to expire the nonce
  bool operator==(const UsedNonce&) const = default;
};

struct LoggedCell {
  Cell cell;                           // with its final timestamp; its tags exclude the time to live
  std::optional<std::int64_t> ttl_ms;  // the cell's own time to live, which may be 0 or less
};

// The part of an entry that replication needs; present only for cells of families with REPLICATION_SCOPE 1. Recovered
// edits do not contain it, because replication ships from the log.
struct ShippedPart {
  std::string table;                     // "ns:q"; empty: the entry is not shipped
  std::vector<std::string> families;     // the families that are shipped
  std::vector<std::string> cluster_ids;  // clusters that the entry has passed before this one
  std::int64_t written_ms = 0;           // wall clock, used only to measure the lag
  bool operator==(const ShippedPart&) const = default;
};

// A position in the logs of one server; everything before it is included. The files of a server form one sequence.
struct QueuePoint {
  std::string server;      // owner of the logs: the name of their directory
  std::uint64_t file = 0;  // kEndOfQueue: after everything that the server wrote; the server is dead then
  std::uint64_t offset = 0;
  bool operator==(const QueuePoint&) const = default;
};
inline constexpr std::uint64_t kEndOfQueue = UINT64_MAX;

// Marks that an opening of a region with shipped writes begins or ends here (S113: serial order of openings). A
// separate entry, which changes nothing in the region.
struct OpeningMark {
  bool opens = false;
  // For the start of an opening: where the previous openings of this region and of its parents ended.
  std::vector<QueuePoint> after;
  bool operator==(const OpeningMark&) const = default;
};

struct LogEntry {
  std::string region;          // the region's encoded name
  std::uint64_t sequence = 0;  // the region's sequence, which rises across openings and entries
  std::vector<LoggedCell> cells;
  std::vector<UsedNonce> nonces;
  // greatest timestamp that the server has assigned in this region so far (S27: rising timestamps)
  std::int64_t greatest_timestamp = 0;
  ShippedPart shipped{};
  std::optional<OpeningMark> mark{};  // present only with a table in `shipped`
};

void EncodeLogEntry(const LogEntry& entry, std::string& out);
[[nodiscard]] inline std::uint8_t VersionOf(const LogEntry& entry) {
  if (entry.shipped.table.empty()) return kEntryVersion;
  return entry.mark ? kMarkEntryVersion : kShippedEntryVersion;
}
// An upper bound of the bytes that the cell takes in an entry.
[[nodiscard]] std::uint64_t LoggedSize(const CellView& cell);
// kCorruption when the bytes are not an entry.
[[nodiscard]] Result<LogEntry> DecodeLogEntry(std::string_view payload);
class ByteReader;
void PutQueuePoints(std::string& out, const std::vector<QueuePoint>& points);
// Returns false when there is no valid list of points. A server's name must be valid as a directory name (S55: checked
// input).
[[nodiscard]] bool ReadQueuePoints(ByteReader& in, std::vector<QueuePoint>& points);

}  // namespace ratchet::regionserver
