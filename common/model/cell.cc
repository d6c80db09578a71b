#include "common/model/cell.h"

#include <cstring>

namespace ratchet {
namespace {

// string_view compares as unsigned bytes, a prefix before a longer text: HBase's plain order.
std::strong_ordering ComparePlain(std::string_view a, std::string_view b) { return a.compare(b) <=> 0; }

// A row of hbase:meta, split into the parts that the order uses. A missing part sorts before an existing one.
struct MetaParts {
  std::string_view table;
  bool has_key = false;
  std::string_view key;
  bool has_id = false;
  std::string_view id;
};

MetaParts SplitMetaRow(std::string_view row) {
  MetaParts parts;
  const auto first = row.find(',');
  parts.table = row.substr(0, first);
  if (first == std::string_view::npos) return parts;
  parts.has_key = true;
  // std::string_view::rfind looks at one byte after the other, and this is the larger part of a comparison.
  const auto* const found = static_cast<const char*>(::memrchr(row.data(), ',', row.size()));
  const auto last = static_cast<std::size_t>(found - row.data());
  if (last == first) {
    parts.key = row.substr(first + 1);
    return parts;
  }
  parts.key = row.substr(first + 1, last - first - 1);
  parts.has_id = true;
  parts.id = row.substr(last + 1);
  return parts;
}

std::strong_ordering CompareMetaRows(std::string_view a, std::string_view b) {
  if (a == b) return std::strong_ordering::equal;  // as most cells that are next to each other
  const MetaParts left = SplitMetaRow(a);
  const MetaParts right = SplitMetaRow(b);
  if (const auto order = ComparePlain(left.table, right.table); order != 0) return order;
  if (const auto order = left.has_key <=> right.has_key; order != 0) return order;
  if (const auto order = ComparePlain(left.key, right.key); order != 0) return order;
  if (const auto order = left.has_id <=> right.has_id; order != 0) return order;
  return ComparePlain(left.id, right.id);
}

}  // namespace

bool IsCellType(int number) {
  switch (number) {
    case static_cast<int>(CellType::kPut):
    case static_cast<int>(CellType::kDelete):
    case static_cast<int>(CellType::kDeleteFamilyVersion):
    case static_cast<int>(CellType::kDeleteColumn):
    case static_cast<int>(CellType::kDeleteFamily): return true;
    default: return false;
  }
}

std::strong_ordering CompareRows(RowOrder order, std::string_view a, std::string_view b) {
  return order == RowOrder::kMeta ? CompareMetaRows(a, b) : ComparePlain(a, b);
}

std::strong_ordering CompareCells(RowOrder row_order, const CellView& a, const CellView& b) {
  if (const auto order = CompareRows(row_order, a.row, b.row); order != 0) return order;
  if (const auto order = ComparePlain(a.family, b.family); order != 0) return order;
  if (const auto order = ComparePlain(a.qualifier, b.qualifier); order != 0) return order;
  if (const auto order = b.timestamp <=> a.timestamp; order != 0) return order;
  return static_cast<int>(b.type) <=> static_cast<int>(a.type);
}

std::string EncodeInt64(std::int64_t value) {
  std::string bytes(8, '\0');
  auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = 8; i-- > 0; bits >>= 8) bytes[i] = static_cast<char>(bits & 0xff);
  return bytes;
}

bool DecodeInt64(std::string_view bytes, std::int64_t& value) {
  if (bytes.size() != 8) return false;
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  value = static_cast<std::int64_t>(bits);
  return true;
}

}  // namespace ratchet
