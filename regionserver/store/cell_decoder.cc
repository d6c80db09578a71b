#include "regionserver/store/cell_decoder.h"

#include <cstring>

#include "common/model/cell_tags.h"

namespace ratchet::regionserver {
namespace {

Error MalformedCell() {
  return Error(Code::kCorruption, "stored cell is malformed although its block's checksum is right");
}

}  // namespace

Result<CellDecoder::Change> CellDecoder::DecodeKey(std::string_view key) {
  if (key.size() <= kFixedKeyTail) return MalformedCell();
  const std::string_view column = ColumnOf(key);
  Change change = Change::kVersion;
  if (column != column_) {
    RATCHET_ASSIGN(change, DecodeColumn(column));
  }
  const char* const tail = key.data() + column.size();
  const auto type = static_cast<std::uint8_t>(~static_cast<std::uint8_t>(tail[8]));
  if (!IsCellType(type)) return MalformedCell();
  cell_.timestamp = TimestampOf(key);
  cell_.type = static_cast<CellType>(type);
  sequence_ = SequenceOf(key);
  return change;
}

Result<CellDecoder::Change> CellDecoder::DecodeColumn(std::string_view column) {
  if (OnlyRowDiffers(column)) {
    column_.assign(column);
    cell_.row = std::string_view(column_).substr(0, row_end_ - 2);
    return Change::kRow;
  }
  Change change = Change::kColumn;
  const bool same_row = row_end_ > 0 && column.starts_with(row_prefix());
  if (!same_row || !column.starts_with(family_prefix())) {
    change = same_row ? Change::kFamily : Change::kRow;
    const std::size_t row = same_row ? row_end_ : EndOfEscaped(column, 0);
    const std::size_t family = row == std::string_view::npos ? row : EndOfEscaped(column, row);
    if (family == std::string_view::npos) return MalformedCell();
    row_end_ = row;
    family_end_ = family;
  }
  if (EndOfEscaped(column, family_end_) != column.size()) return MalformedCell();
  column_.assign(column);
  const std::string_view own(column_);
  cell_.row = UnescapedView(own.substr(0, row_end_), row_);
  cell_.family = UnescapedView(own.substr(row_end_, family_end_ - row_end_), family_);
  cell_.qualifier = UnescapedView(own.substr(family_end_), qualifier_);
  if (cell_.row.size() > kMaxRowLength || cell_.family.size() > kMaxFamilyLength)
    return MalformedCell();  // it would be too large to send
  return change;
}

// Fast path: a scan most often moves to the same column of another row with a key of the same length, so only the row
// changes. Valid for keys without zeros, which are their own escaped form.
bool CellDecoder::OnlyRowDiffers(std::string_view column) const {
  if (row_end_ == 0 || column.size() != column_.size() || cell_.row.size() != row_end_ - 2 ||
      cell_.row.data() != column_.data())
    return false;
  if (std::memcmp(column.data() + row_end_, column_.data() + row_end_, column.size() - row_end_) != 0) return false;
  return column.find('\0') == row_end_ - 2 && column[row_end_ - 1] == '\0';
}

Status CellDecoder::DecodeValue(std::string_view value) {
  if (!value.empty() && value.front() == '\0') {  // without tags and a time to live
    ttl_ms_.reset();
    cell_.value = {value.data() + 1, value.size() - 1};
    cell_.tags = {};
    return Ok();
  }
  RATCHET_ASSIGN(const StoredValue stored, SplitStoredValue(value));
  ttl_ms_ = stored.ttl_ms;
  cell_.value = stored.value;
  cell_.tags = stored.tags;
  if (ttl_ms_) {  // clients see it as a tag
    tags_ = stored.tags;
    AppendTtlTag(*ttl_ms_, tags_);
    cell_.tags = tags_;
  }
  return Ok();
}

}  // namespace ratchet::regionserver
