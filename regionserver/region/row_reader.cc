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

// Old versions of a column that is written again and again are many; none of them is looked at.
Status RowReader::Collect(const std::string& prefix, ExistingPuts* puts, std::vector<StoredCell>& out) {
  while (cursor_->Valid() && cursor_->key().starts_with(prefix)) {
    if (SequenceOf(cursor_->key()) > point_.sequence) {
      cursor_->Next();
      continue;
    }
    RATCHET_ASSIGN(StoredCell stored, DecodeStoredCell(cursor_->key(), cursor_->value()));
    if (puts != nullptr) (void)puts->Exists(stored);
    // Behind the puts of the empty column there may be markers of the whole family.
    const bool full = puts != nullptr && puts->ColumnIsFull() && !stored.cell.qualifier.empty();
    out.push_back(std::move(stored));
    if (full) {
      SkipColumn();
    } else {
      cursor_->Next();
    }
  }
  return cursor_->status();
}

void RowReader::SkipColumn() {
  constexpr int kStepsBeforeSeek = 4;  // a seek costs more than a step
  const std::string column(ColumnOf(cursor_->key()));
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    cursor_->Next();
    if (!cursor_->Valid() || !cursor_->key().starts_with(column)) return;
  }
  cursor_->Seek(AfterPrefix(column));
}

// With named columns only these are read, and the empty one, where the family's delete markers are.
Status RowReader::CollectFamily(const std::string& row, const std::string& family,
                                const std::vector<std::string>* qualifiers, ExistingPuts* puts,
                                std::vector<StoredCell>& out) {
  if (qualifiers == nullptr || qualifiers->empty()) {
    const std::string prefix = FamilyPrefix(row, family);
    cursor_->Seek(prefix);
    return Collect(prefix, puts, out);
  }
  std::set<std::string> sorted(qualifiers->begin(), qualifiers->end());
  sorted.insert(std::string());
  for (const std::string& qualifier : sorted) {
    const std::string prefix = ColumnPrefix(row, family, qualifier);
    cursor_->Seek(prefix);
    RATCHET_TRY(Collect(prefix, puts, out));
  }
  return Ok();
}

Result<std::vector<Cell>> RowReader::Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                                          const std::vector<LoggedCell>* pending) {
  std::vector<Cell> selected;
  // A delete that is not stored yet may let an older version exist again.
  const bool pending_deletes = pending != nullptr && std::any_of(pending->begin(), pending->end(), [](const auto& logged) {
    return logged.cell.type != CellType::kPut;
  });
  for (const auto& [family, rules] : families_) {
    const auto column = spec.columns.find(family);
    if (!spec.columns.empty() && column == spec.columns.end()) continue;
    std::vector<StoredCell> cells;
    ExistingPuts puts(rules, now_ms);
    RATCHET_TRY(CollectFamily(row, family, column == spec.columns.end() ? nullptr : &column->second,
                              pending_deletes ? nullptr : &puts, cells));
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
