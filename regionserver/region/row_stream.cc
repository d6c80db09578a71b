#include "regionserver/region/row_stream.h"

#include <utility>

#include "regionserver/region/pending_cells.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {
namespace {

constexpr int kStepsBeforeSeek = 8;  // a seek costs as much as several steps

}  // namespace

Status RowStream::EnterRow() {
  selected_ = in_family_ = false;
  next_row_.clear();
  has_row_ = cursor_.Valid();
  if (!has_row_) return cursor_.status();
  const std::string_view key = cursor_.key();
  const std::size_t zero = key.find('\0');
  if (zero < key.size() - 1 && key[zero + 1] == '\0') {  // most rows have no zeros inside
    row_prefix_.assign(key.data(), zero + 2);
    row_.assign(key.data(), zero);
  } else {
    row_prefix_ = EncodedRowOf(key);
    if (row_prefix_.size() < 2)
      return Error(Code::kCorruption, "stored cell is malformed although its block's checksum is right");
    row_ = DecodeRow(row_prefix_);
  }
  cursor_.EnterRow();
  return Ok();
}

Status RowStream::ToRowAtOrAfter(std::string_view row, bool inclusive) {
  const std::string prefix = RowPrefix(row);
  cursor_.Seek(inclusive ? prefix : AfterPrefix(prefix));
  return EnterRow();
}

Status RowStream::ToRowAtOrBefore(std::string_view row, bool inclusive) {
  const std::string prefix = RowPrefix(row);
  cursor_.SeekBefore(inclusive ? AfterPrefix(prefix) : prefix);
  RATCHET_TRY(EnterRow());
  if (has_row_) cursor_.Seek(row_prefix_);
  return cursor_.status();
}

Status RowStream::ToLastRow() {
  cursor_.SeekToLast();
  RATCHET_TRY(EnterRow());
  if (has_row_) cursor_.Seek(row_prefix_);
  return cursor_.status();
}

Status RowStream::ToNextRow() {
  if (!next_row_.empty() && CompareRows(order_.rows, next_row_, row_) > 0) {
    SkipTo(RowPrefix(next_row_));
    return EnterRow();
  }
  for (int step = 0; InRow(); ++step) {
    if (step < kStepsBeforeSeek)
      cursor_.Next();
    else
      cursor_.Seek(AfterPrefix(row_prefix_));
  }
  return EnterRow();
}

Status RowStream::ToPreviousRow() {
  if (!next_row_.empty() && CompareRows(order_.rows, next_row_, row_) < 0)
    return ToRowAtOrBefore(std::string(next_row_), true);
  cursor_.SeekBefore(row_prefix_);
  RATCHET_TRY(EnterRow());
  if (has_row_) cursor_.Seek(row_prefix_);
  return cursor_.status();
}

void RowStream::BeginRow(std::int64_t now_ms) {
  now_ms_ = now_ms;
  family_ = 0;
  in_family_ = selected_ = false;
}

Result<RowStream::Found> RowStream::Peek(int* looks) {
  if (selected_) return Found::kCell;
  while (*looks > 0) {
    --*looks;
    if (family_ == query_.size()) return Found::kRowEnd;
    if (!InRow()) {
      if (!cursor_.Valid()) RATCHET_TRY(cursor_.status());
      return Found::kRowEnd;
    }
    RATCHET_TRY(LookHere());
    if (selected_) return Found::kCell;
  }
  return Found::kNotYet;
}

Status RowStream::Resumed() {
  cursor_.Look();
  if (!selected_) return Ok();
  const std::uint64_t sequence = decoder_.sequence();
  const std::int64_t timestamp = decoder_.cell().timestamp;
  if (cursor_.Valid()) {
    RATCHET_ASSIGN(const CellDecoder::Change change, decoder_.DecodeKey(cursor_.key()));
    if (change == CellDecoder::Change::kVersion && decoder_.sequence() == sequence &&
        decoder_.cell().timestamp == timestamp)
      return decoder_.DecodeValue(cursor_.value());
  }
  RATCHET_TRY(cursor_.status());
  return MakeError(Code::kAborted, "the scan's position is gone; scan again from its row",
                   rpc::exception::kUnknownScanner);
}

Status RowStream::Arrived() {
  cursor_.Look();
  return EnterRow();
}

Status RowStream::Continue(std::string_view last_key, std::int64_t now_ms) {
  constexpr std::string_view kPlainValue{"\0", 1};
  cursor_.Look();
  next_row_.clear();
  row_prefix_ = EncodedRowOf(last_key);
  row_ = DecodeRow(row_prefix_);
  has_row_ = true;
  BeginRow(now_ms);
  RATCHET_TRY(decoder_.DecodeKey(last_key));
  RATCHET_TRY(decoder_.DecodeValue(kPlainValue));
  RATCHET_ASSIGN(const bool wanted, FamilyIsWanted());
  selector_.BeginColumn(decoder_.cell().qualifier);
  const FamilySelector::Verdict verdict = selector_.Look(decoder_.cell(), std::nullopt);
  if (wanted && verdict.take) return Ok();
  return Error(Code::kInternal, "a cell was returned that the scan does not select");
}

void RowStream::Pop() {
  selected_ = false;
  Go(behind_);
}

// Looks at the current cell; advances unless the cell is selected.
Status RowStream::LookHere() {
  RATCHET_ASSIGN(const CellDecoder::Change change, decoder_.DecodeKey(cursor_.key()));
  if (!in_family_ || change >= CellDecoder::Change::kFamily) {
    RATCHET_ASSIGN(const bool wanted, FamilyIsWanted());
    if (!wanted) return Ok();
    selector_.BeginColumn(decoder_.cell().qualifier);
  } else if (change == CellDecoder::Change::kColumn) {
    selector_.BeginColumn(decoder_.cell().qualifier);
  }
  if (decoder_.sequence() > read_point_ && decoder_.sequence() < kFirstPendingSequence) {
    cursor_.Next();
    return Ok();
  }
  RATCHET_TRY(decoder_.DecodeValue(cursor_.value()));
  const FamilySelector::Verdict verdict = selector_.Look(decoder_.cell(), decoder_.ttl_ms());
  if (verdict.take) {
    selected_ = true;
    behind_ = verdict.next;
  } else {
    Go(verdict.next);
  }
  return Ok();
}

Result<bool> RowStream::FamilyIsWanted() {
  const std::string_view here = decoder_.cell().family;
  in_family_ = false;
  if (query_[family_].family != here) {
    while (family_ < query_.size() && query_[family_].family < here) ++family_;
    if (family_ == query_.size()) return false;
    if (query_[family_].family != here) {
      SkipTo(FamilyPrefix(row_, query_[family_].family));
      return false;
    }
  }
  selector_.Begin(query_[family_], now_ms_, filter_);
  in_family_ = true;
  return true;
}

void RowStream::Go(FamilySelector::Next next) {
  switch (next) {
    case FamilySelector::Next::kCell: cursor_.Next(); return;
    case FamilySelector::Next::kColumn: SkipColumn(); return;
    case FamilySelector::Next::kHint: FollowHint(); return;
    case FamilySelector::Next::kWantedColumn:
      if (const std::string* qualifier = selector_.NextWanted(); qualifier != nullptr) {
        std::string column(decoder_.family_prefix());
        AppendEscaped(*qualifier, column);
        SkipTo(column);
        return;
      }
      [[fallthrough]];
    case FamilySelector::Next::kFamily:
      in_family_ = false;
      if (++family_ < query_.size()) SkipTo(FamilyPrefix(row_, query_[family_].family));
      return;
  }
}

// If the filter names another row, this row is excluded, whatever other families it has.
void RowStream::FollowHint() {
  const filters::Place& place = selector_.hint();
  if (place.row == row_) return SkipTo(ColumnPrefix(row_, place.family, place.qualifier));
  const auto order = CompareRows(order_.rows, place.row, row_);
  if (order_.rows == RowOrder::kPlain && order != 0) next_row_ = place.row;
  family_ = query_.size();
}

// Skips old versions without looking at them, because a column that is rewritten often has many.
void RowStream::SkipColumn() {
  const std::string_view column = decoder_.column_prefix();
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    cursor_.Next();
    if (!cursor_.Valid() || !cursor_.key().starts_with(column)) return;
  }
  cursor_.Seek(AfterPrefix(std::string(column)));
}

void RowStream::SkipTo(const std::string& key) {
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    if (!cursor_.Valid() || !order_(cursor_.key(), key)) return;
    cursor_.Next();
  }
  if (cursor_.Valid() && order_(cursor_.key(), key)) cursor_.Seek(key);
}

}  // namespace ratchet::regionserver
