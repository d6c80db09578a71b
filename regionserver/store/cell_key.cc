#include "regionserver/store/cell_key.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/model/cell_codec.h"
#include "common/model/cell_tags.h"
#include "regionserver/wal/byte_codec.h"

namespace ratchet::regionserver {
namespace {

// The first byte of a stored value: flags for the parts that precede the value itself.
constexpr std::uint8_t kHasTtl = 1;   // in ms
constexpr std::uint8_t kHasTags = 2;  // length and tags

void AppendBigEndian(std::uint64_t value, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

std::uint64_t ReadBigEndian(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little,
                "this code swaps bytes, so it needs a little-endian machine");
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return __builtin_bswap64(value);
}

// Maps signed order to unsigned order.
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

}  // namespace

void AppendEscaped(std::string_view bytes, std::string& out) {
  for (;;) {
    const std::size_t zero = bytes.find('\0');
    if (zero == std::string_view::npos) break;
    out.append(bytes.substr(0, zero + 1));
    out.push_back('\1');
    bytes.remove_prefix(zero + 1);
  }
  out.append(bytes);
  out.append(2, '\0');
}

std::size_t EndOfEscaped(std::string_view key, std::size_t from) {
  for (;;) {
    const std::size_t zero = key.find('\0', from);
    if (zero == std::string_view::npos || zero + 1 >= key.size()) return std::string_view::npos;
    if (key[zero + 1] == '\0') return zero + 2;
    from = zero + 2;
  }
}

std::string Unescape(std::string_view escaped) {
  escaped.remove_suffix(std::min<std::size_t>(escaped.size(), 2));
  std::string out;
  out.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    out.push_back(escaped[i]);
    if (escaped[i] == '\0') ++i;
  }
  return out;
}

std::string_view UnescapedView(std::string_view escaped, std::string& scratch) {
  if (escaped.size() >= 2 && escaped.find('\0') == escaped.size() - 2) return escaped.substr(0, escaped.size() - 2);
  scratch = Unescape(escaped);
  return scratch;
}

void AppendCellKey(const CellView& cell, std::uint64_t sequence, std::string& out) {
  AppendEscaped(cell.row, out);
  AppendEscaped(cell.family, out);
  AppendEscaped(cell.qualifier, out);
  AppendBigEndian(~(static_cast<std::uint64_t>(cell.timestamp) ^ kSignBit), out);
  out.push_back(static_cast<char>(~static_cast<std::uint8_t>(cell.type)));
  AppendBigEndian(~sequence, out);
}

std::string CellKey(const CellView& cell, std::uint64_t sequence) {
  std::string key;
  key.reserve(cell.row.size() + cell.family.size() + cell.qualifier.size() + 6 + kFixedKeyTail);
  AppendCellKey(cell, sequence, key);
  return key;
}

std::string RowPrefix(std::string_view row) {
  std::string key;
  AppendEscaped(row, key);
  return key;
}

std::string FamilyPrefix(std::string_view row, std::string_view family) {
  std::string key = RowPrefix(row);
  AppendEscaped(family, key);
  return key;
}

std::string ColumnPrefix(std::string_view row, std::string_view family, std::string_view qualifier) {
  std::string key = FamilyPrefix(row, family);
  AppendEscaped(qualifier, key);
  return key;
}

// A prefix ends in 00 00; only keys with this prefix are below the same prefix with 00 01.
std::string AfterPrefix(std::string prefix) {
  prefix.back() = '\1';
  return prefix;
}

std::string_view EncodedRowOf(std::string_view key) {
  const std::size_t end = EndOfEscaped(key, 0);
  return end == std::string_view::npos ? key : key.substr(0, end);
}

std::string DecodeRow(std::string_view encoded_row) { return Unescape(encoded_row); }

Result<StoredCell> DecodeStoredCell(std::string_view key, std::string_view value) {
  const Error malformed(Code::kCorruption, "stored cell is malformed although its block's checksum is right");
  const std::size_t row = EndOfEscaped(key, 0);
  const std::size_t family = row == std::string_view::npos ? row : EndOfEscaped(key, row);
  const std::size_t qualifier = family == std::string_view::npos ? family : EndOfEscaped(key, family);
  if (qualifier == std::string_view::npos || key.size() != qualifier + kFixedKeyTail) return malformed;
  StoredCell stored;
  stored.cell.row = Unescape(key.substr(0, row));
  stored.cell.family = Unescape(key.substr(row, family - row));
  stored.cell.qualifier = Unescape(key.substr(family, qualifier - family));
  stored.cell.timestamp = TimestampOf(key);
  const auto type = static_cast<std::uint8_t>(~static_cast<std::uint8_t>(key[qualifier + 8]));
  if (!IsCellType(type)) return malformed;
  stored.cell.type = static_cast<CellType>(type);
  stored.sequence = SequenceOf(key);
  RATCHET_ASSIGN(const StoredValue parts, SplitStoredValue(value));
  stored.ttl_ms = parts.ttl_ms;
  stored.cell.value = parts.value;
  stored.cell.tags = parts.tags;
  if (!CheckCell(stored.cell).ok()) return malformed;  // it would be too large to send
  return stored;
}

Result<StoredValue> SplitStoredValue(std::string_view stored) {
  const auto malformed = [] {
    return Error(Code::kCorruption, "stored value is malformed although its block's checksum is right");
  };
  if (stored.empty()) return malformed();
  if (stored.front() == 0) return StoredValue{stored.substr(1), {}, {}};
  const auto flags = static_cast<std::uint8_t>(stored.front());
  if ((flags & ~(kHasTtl | kHasTags)) != 0) return malformed();
  ByteReader in(stored.substr(1));
  StoredValue parts;
  if ((flags & kHasTtl) != 0) parts.ttl_ms = static_cast<std::int64_t>(in.Varint());
  if ((flags & kHasTags) != 0) parts.tags = in.Bytes();
  if (!in.ok() || !CheckTags(parts.tags).ok() || !HaveRoom(parts.tags, parts.ttl_ms)) return malformed();
  parts.value = in.Rest();
  return parts;
}

void AppendStoredValue(std::string_view value, std::optional<std::int64_t> ttl_ms, std::string_view tags,
                       std::string& out) {
  const int flags = (ttl_ms ? kHasTtl : 0) | (tags.empty() ? 0 : kHasTags);
  out.push_back(static_cast<char>(flags));
  if (ttl_ms) PutVarint(out, static_cast<std::uint64_t>(*ttl_ms));
  if (!tags.empty()) PutBytes(out, tags);
  out.append(value);
}

std::string EncodeStoredValue(std::string_view value, std::optional<std::int64_t> ttl_ms, std::string_view tags) {
  std::string out;
  out.reserve(value.size() + tags.size() + 1);
  AppendStoredValue(value, ttl_ms, tags, out);
  return out;
}

std::int64_t TimestampOf(std::string_view key) {
  return static_cast<std::int64_t>(~ReadBigEndian(key.substr(key.size() - kFixedKeyTail, 8)) ^ kSignBit);
}

std::uint64_t SequenceOf(std::string_view key) {
  if (key.size() < 8) return 0;  // not one of our keys: the decoder reports it
  return ~ReadBigEndian(key.substr(key.size() - 8));
}

int KeyOrder::Compare(std::string_view a, std::string_view b) const {
  // RocksDB's table writer also compares with the empty key, which is not the key of a cell.
  if (rows == RowOrder::kPlain || a.empty() || b.empty()) return a.compare(b);
  const std::string_view row_a = EncodedRowOf(a);
  const std::string_view row_b = EncodedRowOf(b);
  if (row_a == row_b) return a.substr(row_a.size()).compare(b.substr(row_b.size()));
  std::string scratch_a;
  std::string scratch_b;
  const auto order = CompareRows(rows, UnescapedView(row_a, scratch_a), UnescapedView(row_b, scratch_b));
  if (order == 0) return a.compare(b);  // one of the two is AfterPrefix of the row
  return order < 0 ? -1 : 1;
}

}  // namespace ratchet::regionserver
