// Stored cells: a key whose byte order is the region's cell order, and a value with what else has to be kept. Pure.
//
// key   = row', family', qualifier', ~timestamp (8), ~type (1), ~sequence (8)
//         x' = x with every 00 as 00 01, and 00 00 at its end: shorter before longer, and no x' a prefix of another
//         so: newest timestamp first, deletes before the put that they hide, newest sequence first
// value = varint flags (1: own TTL follows), [varint ttl ms], the cell's value
// hbase:meta orders rows differently: KeyOrder compares their rows first and only then bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell.h"

namespace ratchet::regionserver {

inline constexpr std::uint64_t kMaxSequence = UINT64_MAX;

void AppendCellKey(const CellView& cell, std::uint64_t sequence, std::string& out);
void AppendEscaped(std::string_view bytes, std::string& out);
[[nodiscard]] std::string CellKey(const CellView& cell, std::uint64_t sequence);
// Returns a key at or before every key of the row / of the family in the row / of the column.
[[nodiscard]] std::string RowPrefix(std::string_view row);
[[nodiscard]] std::string FamilyPrefix(std::string_view row, std::string_view family);
[[nodiscard]] std::string ColumnPrefix(std::string_view row, std::string_view family, std::string_view qualifier);
// Returns a key after every key that begins with `prefix` (one of the three above), and before all keys after those.
[[nodiscard]] std::string AfterPrefix(std::string prefix);

// Returns the encoded row at the front of a key, its 00 00 included; the whole key when there is no end (never for our
// keys).
[[nodiscard]] std::string_view EncodedRowOf(std::string_view key);
[[nodiscard]] std::string DecodeRow(std::string_view encoded_row);
// Parts of a key: EndOfEscaped returns where the escaped part that begins at `from` ends, npos if it has no end.
// Unescape returns the bytes that an escaped part encodes.
[[nodiscard]] std::size_t EndOfEscaped(std::string_view key, std::size_t from);
[[nodiscard]] std::string Unescape(std::string_view escaped);
// As Unescape, without a copy where that is possible: returns a part of `escaped`, unless it has zeros inside; then
// `scratch` keeps the result.
[[nodiscard]] std::string_view UnescapedView(std::string_view escaped, std::string& scratch);

struct StoredCell {
  Cell cell;
  std::uint64_t sequence = 0;
  std::optional<std::int64_t> ttl_ms;  // the cell's own
};
// kCorruption when key or value are malformed.
[[nodiscard]] Result<StoredCell> DecodeStoredCell(std::string_view key, std::string_view value);
void AppendStoredValue(std::string_view value, std::optional<std::int64_t> ttl_ms, std::string_view tags,
                       std::string& out);
[[nodiscard]] std::string EncodeStoredValue(std::string_view value, std::optional<std::int64_t> ttl_ms,
                                            std::string_view tags = {});
struct StoredValue {
  std::string_view value;
  std::optional<std::int64_t> ttl_ms;  // the cell's own
  std::string_view tags;               // without the time to live
};
[[nodiscard]] Result<StoredValue> SplitStoredValue(std::string_view stored);

inline constexpr std::size_t kFixedKeyTail = 8 + 1 + 8;  // timestamp, type, sequence
// Equal for keys that differ only in their sequence.
[[nodiscard]] inline std::string_view WithoutSequence(std::string_view key) { return key.substr(0, key.size() - 8); }
// Returns the column at the front of a key, as made by ColumnPrefix.
[[nodiscard]] inline std::string_view ColumnOf(std::string_view key) {
  return key.substr(0, key.size() - kFixedKeyTail);
}
[[nodiscard]] std::int64_t TimestampOf(std::string_view key);
[[nodiscard]] std::uint64_t SequenceOf(std::string_view key);

struct KeyOrder {
  using is_transparent = void;
  RowOrder rows = RowOrder::kPlain;
  [[nodiscard]] int Compare(std::string_view a, std::string_view b) const;
  bool operator()(std::string_view a, std::string_view b) const { return Compare(a, b) < 0; }
};

}  // namespace ratchet::regionserver
