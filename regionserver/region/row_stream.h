// Reads rows as a stream: one cursor moves forward, each stored cell is looked at once and shown without a copy, and
// the cursor jumps only where a request asks for the next column, family or row.
//
// Only the state of the rules (row_selector.h) is kept for a row, so a row may have any length, and reading may stop
// and resume at any cell.
//
// One thread at a time. `cursor` and `query` outlive the stream.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/cell_decoder.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

// A cursor that caches its current key: it is read once after each move, not at each access.
class LookedAt {
 public:
  explicit LookedAt(CellCursor& cursor) : cursor_(cursor) {}

  void Seek(std::string_view key) {
    cursor_.Seek(key);
    Look();
  }
  void SeekBefore(std::string_view key) {
    cursor_.SeekBefore(key);
    Look();
  }
  void SeekToLast() {
    cursor_.SeekToLast();
    Look();
  }
  void Next() {
    valid_ = cursor_.Step(&key_);
    compared_ = false;
  }
  // Call after another party moved the cursor.
  void Look() {
    valid_ = cursor_.Valid();
    if (valid_) key_ = cursor_.key();
    compared_ = false;
  }
  [[nodiscard]] bool Valid() const { return valid_; }
  [[nodiscard]] std::string_view key() const { return key_; }
  // Returns whether the cursor is at a key of the row; compares once after each move, and after EnterRow.
  [[nodiscard]] bool InRow(std::string_view row_prefix) {
    if (!compared_) {
      in_row_ = valid_ && key_.starts_with(row_prefix);
      compared_ = true;
    }
    return in_row_;
  }
  // Call when the row of InRow changes to that of the current key.
  void EnterRow() { compared_ = in_row_ = true; }
  [[nodiscard]] std::string_view value() const { return cursor_.value(); }
  [[nodiscard]] Status status() const { return cursor_.status(); }

 private:
  CellCursor& cursor_;
  bool valid_ = false;
  bool compared_ = false;  // in_row_ is known
  bool in_row_ = false;
  std::string_view key_;  // if valid_
};

class RowStream {
 public:
  // `read_point`: cells with higher sequences are not shown, pending ones (PendingCells) excepted.
  // `filter`: null, or outlives the stream; its rows begin and end at the caller.
  RowStream(CellCursor& cursor, const RowQuery& query, KeyOrder order, std::uint64_t read_point, ReadFilter* filter)
      : cursor_(cursor), query_(query), order_(order), read_point_(read_point), filter_(filter) {}

  // Moves to the nearest row that has any stored cell, visible or not.
  Status ToRowAtOrAfter(std::string_view row, bool inclusive);
  Status ToRowAtOrBefore(std::string_view row, bool inclusive);
  Status ToLastRow();
  // Moves from a row, read to its end or not, to the next or previous row, or to a later row that the filter named.
  Status ToNextRow();
  Status ToPreviousRow();

  // True when the stream is at a row.
  [[nodiscard]] bool has_row() const { return has_row_; }
  [[nodiscard]] const std::string& row() const { return row_; }

  // Begins to select from the row; all of the row is judged at `now_ms`.
  void BeginRow(std::int64_t now_ms);
  enum class Found : std::uint8_t { kCell, kRowEnd, kNotYet };
  // Call after another reader moved the cursor to the first cell of a row, or to the end.
  Status Arrived();
  // Call after another reader took cells of a row, all of them plain (plain_cells.h), the last one with this key, and
  // moved the cursor behind it. The stream is in this row, in the state that it has after it returned these cells.
  Status Continue(std::string_view last_key, std::int64_t now_ms);
  // Call when the cursor resumes after a rest. An error: the current cell, which was not popped, no longer exists.
  Status Resumed();
  static constexpr int kMostLooks = 10'000;  // cells before Peek lets its caller check the clock
  // Moves to the next selected cell, or stays at it. kNotYet: many cells were passed without a selected one; call
  // again.
  Result<Found> Peek() {
    int looks = kMostLooks;
    return Peek(&looks);
  }
  // Looks at no more than `*looks` cells, and subtracts their number.
  Result<Found> Peek(int* looks);
  // Returns the cell that Peek found; valid until Pop, and only while the cursor does not move.
  [[nodiscard]] const CellView& cell() const { return decoder_.cell(); }
  void Pop();

 private:
  [[nodiscard]] bool InRow() { return cursor_.InRow(row_prefix_); }
  Status EnterRow();
  Status LookHere();
  // Moves to the next wanted family of this row, unless the stream is in it.
  Result<bool> FamilyIsWanted();
  void Go(FamilySelector::Next next);
  void SkipColumn();
  void SkipTo(const std::string& key);
  void FollowHint();

  LookedAt cursor_;
  const RowQuery& query_;
  const KeyOrder order_;
  const std::uint64_t read_point_;
  ReadFilter* const filter_;
  CellDecoder decoder_;
  FamilySelector selector_;
  bool has_row_ = false;
  std::string row_;
  std::string row_prefix_;
  std::int64_t now_ms_ = 0;
  std::size_t family_ = 0;         // index in query_ of the current or next family
  bool in_family_ = false;         // selector_ belongs to query_[family_]
  bool selected_ = false;          // the current cell is selected
  FamilySelector::Next behind_{};  // where to move from there
  std::string next_row_;           // next row that the filter wants; empty: none named
};

}  // namespace ratchet::regionserver
