// A cell: row, family, qualifier, timestamp, type, value, tags. This header also has the orders in which cells are
// sorted.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

// Numbers are those of cell blocks and of the protobuf CellType.
enum class CellType : std::uint8_t {
  kPut = 4,
  kDelete = 8,                // one version, this timestamp exactly
  kDeleteFamilyVersion = 10,  // all columns of the family at this timestamp exactly
  kDeleteColumn = 12,         // all versions at or below this timestamp
  kDeleteFamily = 14,         // all columns and versions of the family at or below this timestamp
};
[[nodiscard]] bool IsCellType(int number);
[[nodiscard]] inline bool IsDelete(CellType type) { return type != CellType::kPut; }

// "now, as the server sees it" in a mutation (Long.MAX_VALUE).
inline constexpr std::int64_t kLatestTimestamp = INT64_MAX;

inline constexpr std::size_t kMaxRowLength = 32767;
inline constexpr std::size_t kMaxFamilyLength = 127;

struct Cell {
  std::string row;
  std::string family;
  std::string qualifier;
  std::int64_t timestamp = kLatestTimestamp;  // ms
  CellType type = CellType::kPut;
  std::string value;
  std::string tags{};  // cell_tags.h
  auto operator<=>(const Cell&) const = default;
};

// A cell that does not own its bytes; valid as long as its source.
struct CellView {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  std::int64_t timestamp = kLatestTimestamp;
  CellType type = CellType::kPut;
  std::string_view value;
  std::string_view tags;

  CellView() = default;
  CellView(const Cell& cell)  // NOLINT(google-explicit-constructor)
      : row(cell.row),
        family(cell.family),
        qualifier(cell.qualifier),
        timestamp(cell.timestamp),
        type(cell.type),
        value(cell.value),
        tags(cell.tags) {}
  [[nodiscard]] Cell Copy() const {
    return Cell{std::string(row),   std::string(family), std::string(qualifier), timestamp, type,
                std::string(value), std::string(tags)};
  }
};

// How rows compare. hbase:meta has its own order: up to the first comma, between first and last comma, and the rest
// (docs/wire-compatibility.md), so that start keys with commas or low bytes sort by region.
enum class RowOrder : std::uint8_t { kPlain, kMeta };

[[nodiscard]] std::strong_ordering CompareRows(RowOrder order, std::string_view a, std::string_view b);
// Order: row, family, qualifier, newest timestamp first, then the higher type number first (a delete sorts before the
// put that it hides). Values do not count.
[[nodiscard]] std::strong_ordering CompareCells(RowOrder order, const CellView& a, const CellView& b);

// For std::map and std::sort.
struct RowLess {
  using is_transparent = void;
  RowOrder order = RowOrder::kPlain;
  bool operator()(std::string_view a, std::string_view b) const { return CompareRows(order, a, b) < 0; }
};
struct CellLess {
  using is_transparent = void;
  RowOrder order = RowOrder::kPlain;
  bool operator()(const CellView& a, const CellView& b) const { return CompareCells(order, a, b) < 0; }
};

// 8 bytes, big-endian: HBase's form of numbers in values.
[[nodiscard]] std::string EncodeInt64(std::int64_t value);
// False when `bytes` is not 8 long.
[[nodiscard]] bool DecodeInt64(std::string_view bytes, std::int64_t& value);

}  // namespace ratchet
