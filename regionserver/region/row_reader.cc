#include "regionserver/region/row_reader.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ratchet::regionserver {
namespace {

// Merges cells that are not stored yet into those of their family, newest sequence first among equals.
void MergePending(const std::vector<LoggedCell>& pending, const std::string& family, std::uint64_t read_point,
                  std::vector<StoredCell>& cells) {
  std::uint64_t sequence = read_point;
  for (const LoggedCell& logged : pending) {
    ++sequence;
    if (logged.cell.family == family) cells.push_back({logged.cell, sequence, logged.ttl_ms});
  }
  std::stable_sort(cells.begin(), cells.end(), [](const StoredCell& a, const StoredCell& b) {
    const auto by_key = CompareCells(RowOrder::kPlain, a.cell, b.cell);  // one row, so its order does not matter
    return by_key != 0 ? by_key < 0 : a.sequence > b.sequence;
  });
}

}  // namespace

std::unique_ptr<CellCursor> NewViewCursor(const StoreView& view, KeyOrder order) {
  std::vector<std::unique_ptr<CellCursor>> children;
  children.push_back(view.active->NewCursor());
  if (view.flushing) children.push_back(view.flushing->NewCursor());
  for (const auto& file : view.files) children.push_back(StoreFiles::NewCursor(file));
  return MergeCursors(std::move(children), order);
}

RowReader::RowReader(const Families& families, ReadPoint point, KeyOrder order)
    : families_(families), point_(std::move(point)), order_(order), cursor_(NewViewCursor(*point_.view, order)) {}

Status RowReader::Collect(const std::string& prefix, std::vector<StoredCell>& out) {
  for (; cursor_->Valid() && cursor_->key().starts_with(prefix); cursor_->Next()) {
    if (SequenceOf(cursor_->key()) > point_.sequence) continue;
    RATCHET_ASSIGN(StoredCell stored, DecodeStoredCell(cursor_->key(), cursor_->value()));
    out.push_back(std::move(stored));
  }
  return cursor_->status();
}

// With named columns only these are read, and the empty one, where the family's delete markers are.
Status RowReader::CollectFamily(const std::string& row, const std::string& family,
                                const std::vector<std::string>* qualifiers, std::vector<StoredCell>& out) {
  if (qualifiers == nullptr || qualifiers->empty()) {
    const std::string prefix = FamilyPrefix(row, family);
    cursor_->Seek(prefix);
    return Collect(prefix, out);
  }
  std::set<std::string> sorted(qualifiers->begin(), qualifiers->end());
  sorted.insert(std::string());
  for (const std::string& qualifier : sorted) {
    const std::string prefix = ColumnPrefix(row, family, qualifier);
    cursor_->Seek(prefix);
    RATCHET_TRY(Collect(prefix, out));
  }
  return Ok();
}

Result<std::vector<Cell>> RowReader::Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                                          const std::vector<LoggedCell>* pending) {
  std::vector<Cell> selected;
  for (const auto& [family, rules] : families_) {
    const auto column = spec.columns.find(family);
    if (!spec.columns.empty() && column == spec.columns.end()) continue;
    std::vector<StoredCell> cells;
    RATCHET_TRY(CollectFamily(row, family, column == spec.columns.end() ? nullptr : &column->second, cells));
    if (pending != nullptr) MergePending(*pending, family, point_.sequence, cells);
    SelectFamily(cells, rules, spec, now_ms, selected);
  }
  return selected;
}

Result<std::optional<std::string>> RowReader::RowHere() const {
  if (cursor_->Valid()) return std::optional(DecodeRow(EncodedRowOf(cursor_->key())));
  RATCHET_TRY(cursor_->status());
  return std::optional<std::string>();
}

Result<std::optional<std::string>> RowReader::RowAtOrAfter(std::string_view row, bool inclusive) {
  const std::string prefix = RowPrefix(row);
  cursor_->Seek(inclusive ? prefix : AfterPrefix(prefix));
  return RowHere();
}

Result<std::optional<std::string>> RowReader::RowAtOrBefore(std::string_view row, bool inclusive) {
  const std::string prefix = RowPrefix(row);
  cursor_->SeekBefore(inclusive ? AfterPrefix(prefix) : prefix);
  return RowHere();
}

Result<std::optional<std::string>> RowReader::LastRow() {
  cursor_->SeekToLast();
  return RowHere();
}

}  // namespace ratchet::regionserver
