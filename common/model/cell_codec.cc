#include "common/model/cell_codec.h"

#include <bit>
#include <cstring>
#include <utility>

#include "common/base/check.h"
#include "common/model/cell_tags.h"
#include "common/model/proto/client.pb.h"

namespace ratchet {
namespace {

constexpr std::size_t kKeyOverhead = 2 + 1 + 8 + 1;  // row length, family length, timestamp, type

// Both return the address of the next byte to write.
template <int kBytes>
char* PutBig(std::uint64_t value, char* to) {
  static_assert(std::endian::native == std::endian::little,
                "this code swaps bytes, so it needs a little-endian machine");
  const std::uint64_t swapped = __builtin_bswap64(value << (64 - 8 * kBytes));
  std::memcpy(to, &swapped, kBytes);
  return to + kBytes;
}

char* Put(std::string_view bytes, char* to) { return to + bytes.copy(to, bytes.size()); }

// For rows and columns, most of which are short: copies up to 16 bytes without a call.
char* PutShort(std::string_view bytes, char* to) {
  const std::size_t size = bytes.size();
  const char* const from = bytes.data();
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
  return to + size;
}

std::uint64_t ReadBig(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

Error BadCell(std::string_view why) {
  return Error(Code::kInvalidArgument, fmt::format("malformed cell block: {}", why));
}

// Cuts `count` bytes off the front of `rest`, which has them.
std::string_view Cut(std::string_view& rest, std::size_t count) {
  const std::string_view head = rest.substr(0, count);
  rest.remove_prefix(count);
  return head;
}

// In a cell block: two bytes of length first, nothing at all if there are no tags.
std::size_t TagsSize(std::string_view tags) { return tags.empty() ? 0 : 2 + tags.size(); }

// Java's Put.add also accepts delete markers (a put that replaces a column by nothing).
CellType TypeOf(const hbase::pb::MutationProto& mutation,
                const hbase::pb::MutationProto::ColumnValue::QualifierValue& value) {
  using hbase::pb::MutationProto;
  const bool may_delete = mutation.mutate_type() == MutationProto::DELETE ||
                          (mutation.mutate_type() == MutationProto::PUT && value.has_delete_type());
  if (!may_delete) return CellType::kPut;
  switch (value.delete_type()) {
    case MutationProto::DELETE_ONE_VERSION: return CellType::kDelete;
    case MutationProto::DELETE_MULTIPLE_VERSIONS: return CellType::kDeleteColumn;
    case MutationProto::DELETE_FAMILY: return CellType::kDeleteFamily;
    case MutationProto::DELETE_FAMILY_VERSION: return CellType::kDeleteFamilyVersion;
  }
  return CellType::kDelete;
}

}  // namespace

Status CheckCell(const CellView& cell) {
  if (cell.row.size() > kMaxRowLength) {
    return Error(Code::kInvalidArgument, fmt::format("row of {} bytes; at most {}", cell.row.size(), kMaxRowLength));
  }
  if (cell.family.size() > kMaxFamilyLength) {
    return Error(Code::kInvalidArgument,
                 fmt::format("family of {} bytes; at most {}", cell.family.size(), kMaxFamilyLength));
  }
  if (cell.tags.size() > kMaxTagsLength)
    return Error(Code::kInvalidArgument, fmt::format("tags of {} bytes; at most {}", cell.tags.size(), kMaxTagsLength));
  return Ok();
}

std::size_t EncodedCellSize(const CellView& cell) {
  return 4 + 8 + kKeyOverhead + cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() +
         TagsSize(cell.tags);
}

void AppendCell(const CellView& cell, std::string& block, bool with_tags) {
  RATCHET_CHECK(
      cell.row.size() <= kMaxRowLength && cell.family.size() <= kMaxFamilyLength && cell.tags.size() <= kMaxTagsLength,
      "row of {}, family of {} and tags of {} bytes", cell.row.size(), cell.family.size(), cell.tags.size());
  const std::string_view tags = with_tags ? cell.tags : std::string_view();
  const std::size_t key = kKeyOverhead + cell.row.size() + cell.family.size() + cell.qualifier.size();
  const std::size_t begin = block.size();
  const std::size_t body = 8 + key + cell.value.size() + TagsSize(tags);
  block.resize(begin + 4 + body);
  char* to = block.data() + begin;
  to = PutBig<4>(body, to);
  to = PutBig<4>(key, to);
  to = PutBig<4>(cell.value.size(), to);
  to = PutBig<2>(cell.row.size(), to);
  to = PutShort(cell.row, to);
  to = PutBig<1>(cell.family.size(), to);
  to = PutShort(cell.family, to);
  to = PutShort(cell.qualifier, to);
  to = PutBig<8>(static_cast<std::uint64_t>(cell.timestamp), to);
  *to++ = static_cast<char>(cell.type);
  to = Put(cell.value, to);
  if (!tags.empty()) Put(tags, PutBig<2>(tags.size(), to));
}

Result<CellView> CellBlockReader::Next() {
  if (rest_.size() < 4) return BadCell(rest_.empty() ? "fewer cells than announced" : "cut in a length");
  const std::uint64_t length = ReadBig(rest_.substr(0, 4));
  if (length < 8 + kKeyOverhead || length > rest_.size() - 4) return BadCell("length out of range");
  std::string_view body = rest_.substr(4, length);
  const std::uint64_t key = ReadBig(Cut(body, 4));
  const std::uint64_t value = ReadBig(Cut(body, 4));
  if (key < kKeyOverhead || key + value > body.size()) return BadCell("key and value are longer than the cell");
  const std::uint64_t row = ReadBig(Cut(body, 2));
  if (row > kMaxRowLength || row + kKeyOverhead > key) return BadCell("row longer than its key");
  CellView cell;
  cell.row = Cut(body, row);
  const std::uint64_t family = ReadBig(Cut(body, 1));
  if (family > kMaxFamilyLength || row + family + kKeyOverhead > key) return BadCell("family longer than its key");
  cell.family = Cut(body, family);
  cell.qualifier = Cut(body, key - kKeyOverhead - row - family);
  cell.timestamp = static_cast<std::int64_t>(ReadBig(Cut(body, 8)));
  const int type = static_cast<unsigned char>(Cut(body, 1).front());
  if (!IsCellType(type)) return BadCell(fmt::format("cell type {}", type));
  cell.type = static_cast<CellType>(type);
  cell.value = Cut(body, value);
  if (!body.empty()) {
    if (body.size() < 2 || ReadBig(body.substr(0, 2)) != body.size() - 2)
      return BadCell("key, value and tags do not fill the cell");
    cell.tags = body.substr(2);
    RATCHET_TRY(CheckTags(cell.tags));
  }
  rest_.remove_prefix(4 + length);
  return cell;
}

Result<std::vector<Cell>> CellBlockReader::Take(std::size_t count) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < count; ++i) {
    RATCHET_ASSIGN(const CellView cell, Next());
    cells.push_back(cell.Copy());
  }
  return cells;
}

void ToProto(const CellView& cell, hbase::pb::Cell& out) {
  out.set_row(cell.row.data(), cell.row.size());
  out.set_family(cell.family.data(), cell.family.size());
  out.set_qualifier(cell.qualifier.data(), cell.qualifier.size());
  out.set_timestamp(static_cast<std::uint64_t>(cell.timestamp));
  out.set_cell_type(static_cast<hbase::pb::CellType>(cell.type));
  out.set_value(cell.value.data(), cell.value.size());
}

Result<Cell> FromProto(const hbase::pb::Cell& cell) {
  Cell out;
  out.row = cell.row();
  out.family = cell.family();
  out.qualifier = cell.qualifier();
  if (cell.has_timestamp()) out.timestamp = static_cast<std::int64_t>(cell.timestamp());
  if (cell.has_cell_type()) {
    if (!IsCellType(cell.cell_type())) {
      return Error(Code::kInvalidArgument, fmt::format("cell type {}", static_cast<int>(cell.cell_type())));
    }
    out.type = static_cast<CellType>(cell.cell_type());
  }
  out.value = cell.value();
  out.tags = cell.tags();
  RATCHET_TRY(CheckTags(out.tags));
  RATCHET_TRY(CheckCell(out));
  return out;
}

void FillResult(const std::vector<Cell>& cells, CellTarget target, hbase::pb::Result& out) {
  if (target.block == nullptr) {
    for (const Cell& cell : cells) ToProto(cell, *out.add_cell());
    return;
  }
  for (const Cell& cell : cells) AppendCell(cell, *target.block, target.tags);
  out.set_associated_cell_count(static_cast<std::int32_t>(cells.size()));
}

Result<std::vector<Cell>> ReadResult(const hbase::pb::Result& result, CellBlockReader& block) {
  std::vector<Cell> cells;
  for (const auto& cell : result.cell()) {
    RATCHET_ASSIGN(Cell copy, FromProto(cell));
    cells.push_back(std::move(copy));
  }
  if (result.associated_cell_count() < 0) return BadCell("negative cell count");
  RATCHET_ASSIGN(std::vector<Cell> more, block.Take(static_cast<std::size_t>(result.associated_cell_count())));
  for (Cell& cell : more) cells.push_back(std::move(cell));
  return cells;
}

Result<std::vector<Cell>> ReadMutationCells(const hbase::pb::MutationProto& mutation, CellBlockReader& block) {
  const auto default_timestamp =
      mutation.has_timestamp() ? static_cast<std::int64_t>(mutation.timestamp()) : kLatestTimestamp;
  std::vector<Cell> cells;
  for (const auto& column : mutation.column_value()) {
    for (const auto& value : column.qualifier_value()) {
      Cell cell{mutation.row(),          column.family(), value.qualifier(), default_timestamp,
                TypeOf(mutation, value), value.value(),   value.tags()};
      RATCHET_TRY(CheckTags(cell.tags));
      if (value.has_timestamp()) cell.timestamp = static_cast<std::int64_t>(value.timestamp());
      RATCHET_TRY(CheckCell(cell));
      cells.push_back(std::move(cell));
    }
  }
  if (mutation.associated_cell_count() < 0) return BadCell("negative cell count");
  RATCHET_ASSIGN(std::vector<Cell> more, block.Take(static_cast<std::size_t>(mutation.associated_cell_count())));
  for (Cell& cell : more) {
    if (mutation.has_row() && cell.row != mutation.row()) return BadCell("a cell of another row than its mutation's");
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace ratchet
