#include "regionserver/wal/log_entry.h"

#include "common/model/cell_codec.h"
#include "common/model/cell_tags.h"
#include "regionserver/wal/byte_codec.h"

namespace ratchet::regionserver {
namespace {

// Flag in the byte of a cell's type: the cell's tags follow its time to live. Servers older than tags report such an
// entry as damaged.
constexpr int kWithTags = 64;
// Flag in the same byte: the time to live is 0 or less. Without it, 0 means that the cell has no time to live of its
// own.
constexpr int kTtlIsOver = 32;

Error Malformed() { return Error(Code::kCorruption, "log entry is malformed although its checksum is right"); }

void PutCell(std::string& out, const LoggedCell& logged) {
  const Cell& cell = logged.cell;
  PutBytes(out, cell.row);
  PutBytes(out, cell.family);
  PutBytes(out, cell.qualifier);
  PutSigned(out, cell.timestamp);
  const bool over = logged.ttl_ms && *logged.ttl_ms <= 0;
  const int flags = (cell.tags.empty() ? 0 : kWithTags) | (over ? kTtlIsOver : 0);
  out.push_back(static_cast<char>(static_cast<int>(cell.type) | flags));
  PutBytes(out, cell.value);
  PutVarint(out, static_cast<std::uint64_t>(logged.ttl_ms.value_or(0)));
  if (!cell.tags.empty()) PutBytes(out, cell.tags);
}

Result<LoggedCell> ReadCell(ByteReader& in) {
  LoggedCell logged;
  logged.cell.row = in.Bytes();
  logged.cell.family = in.Bytes();
  logged.cell.qualifier = in.Bytes();
  logged.cell.timestamp = in.Signed();
  const std::uint64_t number = in.Varint();
  if (number > 127) return Malformed();
  const int type = static_cast<int>(number) & ~(kWithTags | kTtlIsOver);
  if (!IsCellType(type)) return Malformed();
  logged.cell.type = static_cast<CellType>(type);
  logged.cell.value = in.Bytes();
  const auto ttl_ms = static_cast<std::int64_t>(in.Varint());
  const bool over = (static_cast<int>(number) & kTtlIsOver) != 0;
  if (over ? ttl_ms > 0 : ttl_ms < 0) return Malformed();
  if (over || ttl_ms != 0) logged.ttl_ms = ttl_ms;
  if ((static_cast<int>(number) & kWithTags) != 0) logged.cell.tags = in.Bytes();
  if (!in.ok() || !CheckCell(logged.cell).ok()) return Malformed();
  if (!CheckTags(logged.cell.tags).ok() || !HaveRoom(logged.cell.tags, logged.ttl_ms)) return Malformed();
  return logged;
}

Result<ShippedPart> ReadShippedPart(ByteReader& in) {
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

bool ReadMark(ByteReader& in, OpeningMark& mark) {
  const std::uint64_t opens = in.Varint();
  mark.opens = opens == 1;
  return ReadQueuePoints(in, mark.after) && opens <= 1;
}

bool IsPlausible(std::int64_t moment) { return moment >= -kLargestPlausible && moment <= kLargestPlausible; }
bool IsPlausible(std::uint64_t sequence) { return sequence <= static_cast<std::uint64_t>(kLargestPlausible); }

}  // namespace

std::uint64_t LoggedSize(const CellView& cell) {
  constexpr std::uint64_t kNumbers = 64;  // lengths, timestamp, type, time to live
  return cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + cell.tags.size() + kNumbers;
}

void EncodeLogEntry(const LogEntry& entry, std::string& out) {
  constexpr std::size_t kNumbers = 64;  // of the entry, and of each nonce
  std::uint64_t size = out.size() + entry.region.size() + kNumbers * (1 + entry.nonces.size());
  for (const LoggedCell& cell : entry.cells) size += LoggedSize(cell.cell);
  out.reserve(size);
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
  if (!entry.mark) return;
  PutVarint(out, entry.mark->opens ? 1 : 0);
  PutQueuePoints(out, entry.mark->after);
}

void PutQueuePoints(std::string& out, const std::vector<QueuePoint>& points) {
  PutVarint(out, points.size());
  for (const QueuePoint& point : points) {
    PutBytes(out, point.server);
    PutVarint(out, point.file);
    PutVarint(out, point.offset);
  }
}

bool ReadQueuePoints(ByteReader& in, std::vector<QueuePoint>& points) {
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
  // Counts are claims: memory is allocated only for items that are present.
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
    RATCHET_ASSIGN(LoggedCell cell, ReadCell(in));
    entry.cells.push_back(std::move(cell));
  }
  if (in.AtEnd()) return entry;
  RATCHET_ASSIGN(entry.shipped, ReadShippedPart(in));
  if (in.AtEnd()) return entry;
  if (!ReadMark(in, entry.mark.emplace()) || !in.AtEnd()) return Malformed();
  return entry;
}

}  // namespace ratchet::regionserver
