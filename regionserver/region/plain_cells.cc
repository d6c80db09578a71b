#include "regionserver/region/plain_cells.h"

#include <algorithm>
#include <cstring>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

bool PlainCells::Exist(const RowQuery& query) {
  return std::all_of(query.begin(), query.end(), [](const FamilyQuery& family) {
    return family.qualifiers.empty() && family.range.from == TimeRange().from && family.range.to == TimeRange().to &&
           !family.limit && family.offset == 0 && family.max_versions > 0 && !family.raw;
  });
}

// A row most often has the same columns as the row before, and a key of the same length.
bool PlainCells::OnlyRowDiffers(std::string_view column) const {
  if (row_end_ == 0 || column.size() != key_.size() - kFixedKeyTail) return false;
  if (std::memcmp(column.data() + row_end_, key_.data() + row_end_, column.size() - row_end_) != 0) return false;
  return column.find('\0') == row_end_ - 2 && column[row_end_ - 1] == '\0';
}

bool PlainCells::Divide(std::string_view column, Parts* parts) const {
  const auto end = [column](std::size_t from) {
    const std::size_t zero = column.find('\0', from);
    return zero < column.size() - 1 && column[zero + 1] == '\0' ? zero + 2 : std::string_view::npos;
  };
  parts->row_end = row_end_ > 0 && SameRow(column) ? row_end_ : end(0);
  if (parts->row_end == std::string_view::npos || parts->row_end > kMaxRowLength + 2) return false;
  parts->family_end = end(parts->row_end);
  if (parts->family_end == std::string_view::npos || parts->family_end - parts->row_end > kMaxFamilyLength + 2)
    return false;
  return end(parts->family_end) == column.size();
}

const FamilyQuery* PlainCells::Find(std::string_view family) const {
  const auto found =
      std::find_if(query_.begin(), query_.end(), [family](const FamilyQuery& each) { return each.family == family; });
  return found == query_.end() ? nullptr : &*found;
}

bool PlainCells::Expired(const FamilyQuery& family, std::int64_t timestamp, std::int64_t now_ms) const {
  const std::int64_t ttl_ms = family.rules.ttl_ms;
  return ttl_ms < INT64_MAX - std::max<std::int64_t>(timestamp, 0) && now_ms > timestamp + ttl_ms;
}

bool PlainCells::Take(std::string_view key, std::string_view value, std::int64_t now_ms) {
  constexpr char kPutInKey = static_cast<char>(~static_cast<std::uint8_t>(CellType::kPut));
  if (key.size() <= kFixedKeyTail || value.empty() || value.front() != '\0') return false;
  const std::string_view column = ColumnOf(key);
  if (key[column.size() + 8] != kPutInKey && !RATCHET_MUTANT("region.plain_markers")) return false;
  if (SequenceOf(key) > read_point_ && !RATCHET_MUTANT("region.plain_unreadable")) return false;
  Parts parts{row_end_, family_end_};
  const FamilyQuery* family = family_;
  if (!OnlyRowDiffers(column)) {
    if (!Divide(column, &parts)) return false;
    family = Find(column.substr(parts.row_end, parts.family_end - parts.row_end - 2));
    if (family == nullptr) return false;
  }
  const std::int64_t timestamp = TimestampOf(key);
  if (timestamp < 0) return false;  // no request's time range begins before 0
  if (Expired(*family, timestamp, now_ms) && !RATCHET_MUTANT("region.plain_expired")) return false;
  key_.assign(key);
  row_end_ = parts.row_end;
  family_end_ = parts.family_end;
  family_ = family;
  one_version_ = std::min(family->max_versions, family->rules.max_versions) == 1;
  const std::string_view own(key_.data(), column.size());
  cell_.row = own.substr(0, row_end_ - 2);
  cell_.family = own.substr(row_end_, family_end_ - row_end_ - 2);
  cell_.qualifier = own.substr(family_end_, own.size() - family_end_ - 2);
  cell_.timestamp = timestamp;
  cell_.value = value.substr(1);
  return true;
}

}  // namespace ratchet::regionserver
