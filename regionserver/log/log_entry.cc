#include "regionserver/log/log_entry.h"

#include "common/model/cell_codec.h"
#include "common/model/cell_tags.h"
#include "regionserver/log/byte_codec.h"

namespace ratchet::regionserver {
namespace {

// In the byte of a cell's type, which is below it: the cell's tags follow its time to live. Servers before tags take
// such an entry for a damaged one, and say so.
constexpr int kWithTags = 64;

Error Malformed() { return Error(Code::kCorruption, "log entry is malformed although its checksum is right"); }

void PutCell(std::string& out, const LoggedCell& logged) {
  const Cell& cell = logged.cell;
  PutBytes(out, cell.row);
  PutBytes(out, cell.family);
  PutBytes(out, cell.qualifier);
  PutSigned(out, cell.timestamp);
  out.push_back(static_cast<char>(static_cast<int>(cell.type) | (cell.tags.empty() ? 0 : kWithTags)));
  PutBytes(out, cell.value);
  PutVarint(out, static_cast<std::uint64_t>(logged.ttl_ms));
  if (!cell.tags.empty()) PutBytes(out, cell.tags);
}

Result<LoggedCell> TakeCell(ByteReader& in) {
  LoggedCell logged;
  logged.cell.row = in.Bytes();
  logged.cell.family = in.Bytes();
  logged.cell.qualifier = in.Bytes();
  logged.cell.timestamp = in.Signed();
  const std::uint64_t number = in.Varint();
  if (number > 127) return Malformed();
  const int type = static_cast<int>(number) & ~kWithTags;
  if (!IsCellType(type)) return Malformed();
  logged.cell.type = static_cast<CellType>(type);
  logged.cell.value = in.Bytes();
  logged.ttl_ms = static_cast<std::int64_t>(in.Varint());
  if ((static_cast<int>(number) & kWithTags) != 0) logged.cell.tags = in.Bytes();
  if (!in.ok() || !CheckCell(logged.cell).ok()) return Malformed();
  if (!CheckTags(logged.cell.tags).ok() || !HaveRoom(logged.cell.tags, logged.ttl_ms)) return Malformed();
  return logged;
}

Result<ShippedPart> TakeShippedPart(ByteReader& in) {
  ShippedPart shipped;
  shipped.table = in.Bytes();
  const std::uint64_t families = in.Count();
  for (std::uint64_t i = 0; i < families && in.ok(); ++i) shipped.families.emplace_back(in.Bytes());
  const std::uint64_t ids = in.Count();
  for (std::uint64_t i = 0; i < ids && in.ok(); ++i) shipped.cluster_ids.emplace_back(in.Bytes());
  shipped.written_ms = in.Signed();
  if (!in.ok() || shipped.table.empty()) return Malformed();
  return shipped;
}

bool TakeTurn(ByteReader& in, RegionTurn& turn) {
  const std::uint64_t opens = in.Varint();
  turn.opens = opens == 1;
  return TakeQueuePoints(in, turn.after) && opens <= 1;
}

bool IsPlausible(std::int64_t moment) { return moment >= -kLargestPlausible && moment <= kLargestPlausible; }
bool IsPlausible(std::uint64_t sequence) { return sequence <= static_cast<std::uint64_t>(kLargestPlausible); }

}  // namespace

std::uint64_t LoggedSize(const CellView& cell) {
  constexpr std::uint64_t kNumbers = 64;  // lengths, timestamp, type, time to live
  return cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + cell.tags.size() + kNumbers;
}

void EncodeLogEntry(const LogEntry& entry, std::string& out) {
  PutBytes(out, entry.region);
  PutVarint(out, entry.sequence);
  PutSigned(out, entry.greatest_timestamp);
  PutVarint(out, entry.nonces.size());
  for (const UsedNonce& nonce : entry.nonces) {
    PutVarint(out, nonce.group);
    PutVarint(out, nonce.value);
    PutSigned(out, nonce.used_ms);
  }
  PutVarint(out, entry.cells.size());
  for (const LoggedCell& cell : entry.cells) PutCell(out, cell);
  if (entry.shipped.table.empty()) return;
  PutBytes(out, entry.shipped.table);
  PutVarint(out, entry.shipped.families.size());
  for (const std::string& family : entry.shipped.families) PutBytes(out, family);
  PutVarint(out, entry.shipped.cluster_ids.size());
  for (const std::string& id : entry.shipped.cluster_ids) PutBytes(out, id);
  PutSigned(out, entry.shipped.written_ms);
  if (!entry.turn) return;
  PutVarint(out, entry.turn->opens ? 1 : 0);
  PutQueuePoints(out, entry.turn->after);
}

void PutQueuePoints(std::string& out, const std::vector<QueuePoint>& points) {
  PutVarint(out, points.size());
  for (const QueuePoint& point : points) {
    PutBytes(out, point.server);
    PutVarint(out, point.file);
    PutVarint(out, point.offset);
  }
}

bool TakeQueuePoints(ByteReader& in, std::vector<QueuePoint>& points) {
  constexpr std::size_t kLongestName = 255;
  bool names = true;
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) {
    QueuePoint& point = points.emplace_back();
    point.server = in.Bytes();
    point.file = in.Varint();
    point.offset = in.Varint();
    names = names && !point.server.empty() && point.server.size() <= kLongestName && point.server.front() != '.' &&
            point.server.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  }
  return in.ok() && names;
}

Result<LogEntry> DecodeLogEntry(std::string_view payload) {
  ByteReader in(payload);
  LogEntry entry;
  entry.region = in.Bytes();
  entry.sequence = in.Varint();
  entry.greatest_timestamp = in.Signed();
  if (!IsPlausible(entry.sequence) || !IsPlausible(entry.greatest_timestamp)) return Malformed();
  // Counts are claims: what they announce takes memory only when it is there.
  const std::uint64_t nonces = in.Count();
  for (std::uint64_t i = 0; i < nonces && in.ok(); ++i) {
    UsedNonce nonce;
    nonce.group = in.Varint();
    nonce.value = in.Varint();
    nonce.used_ms = in.Signed();
    if (!IsPlausible(nonce.used_ms)) return Malformed();
    entry.nonces.push_back(nonce);
  }
  const std::uint64_t cells = in.Count();
  for (std::uint64_t i = 0; i < cells; ++i) {
    RATCHET_ASSIGN(LoggedCell cell, TakeCell(in));
    entry.cells.push_back(std::move(cell));
  }
  if (in.AtEnd()) return entry;
  RATCHET_ASSIGN(entry.shipped, TakeShippedPart(in));
  if (in.AtEnd()) return entry;
  if (!TakeTurn(in, entry.turn.emplace()) || !in.AtEnd()) return Malformed();
  return entry;
}

Result<LogEntryKey> DecodeLogEntryKey(std::string_view payload) {
  ByteReader in(payload);
  LogEntryKey key;
  key.region = in.Bytes();
  key.sequence = in.Varint();
  if (!in.ok() || !IsPlausible(key.sequence)) return Malformed();
  return key;
}

}  // namespace ratchet::regionserver
