// Reads rows as a stream: one cursor moves forward, each stored cell is looked at once and shown without a copy, and
// the cursor jumps only where a request asks for the next column, family or row.
//
// Nothing of a row is kept but the state of the rules (row_selector.h), so a row may be as long as it likes, and
// reading may stop and go on at any cell.
//
// One thread at a time. `cursor` and `wish` outlive the stream.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/cell_decoder.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

// A cursor with what it stands at: asked once after each move, not at each look.
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
    cursor_.Next();
    Look();
  }
  // After others have moved it.
  void Look() {
    valid_ = cursor_.Valid();
    if (valid_) key_ = cursor_.key();
  }
  [[nodiscard]] bool Valid() const { return valid_; }
  [[nodiscard]] std::string_view key() const { return key_; }
  [[nodiscard]] std::string_view value() const { return cursor_.value(); }
  [[nodiscard]] Status status() const { return cursor_.status(); }

 private:
  CellCursor& cursor_;
  bool valid_ = false;
  std::string_view key_;  // while valid
};

class RowStream {
 public:
  // `read_point`: cells with higher sequences are not shown, pending ones (pending_cells.h) excepted.
  // `filter`: null, or outlives the stream; its rows begin and end at the caller.
  RowStream(CellCursor& cursor, const RowWish& wish, KeyOrder order, std::uint64_t read_point, ReadFilter* filter)
      : cursor_(cursor), wish_(wish), order_(order), read_point_(read_point), filter_(filter) {}

  // Goes to the nearest row that has any stored cell, visible or not.
  Status ToRowAtOrAfter(std::string_view row, bool inclusive);
  Status ToRowAtOrBefore(std::string_view row, bool inclusive);
  Status ToLastRow();
  // From a row, read to its end or not, to the one after or before it, or behind it where the filter wants to go on.
  Status ToNextRow();
  Status ToPreviousRow();

  // It has come to a row; false: there was none.
  [[nodiscard]] bool has_row() const { return has_row_; }
  [[nodiscard]] const std::string& row() const { return row_; }

  // Begins to select from the row; `now_ms` counts for all of it.
  void BeginRow(std::int64_t now_ms);
  enum class Found : std::uint8_t { kCell, kRowEnd, kNotYet };
  // After the cursor has rested. An error: the cell that it stood at, and that was not popped, is not there any more.
  Status Resumed();
  // Goes to the next selected cell, or stays at it. kNotYet: many cells were passed without one; ask again.
  Result<Found> Peek();
  // The cell that Peek found; good until Pop, and only while the cursor stays.
  [[nodiscard]] const CellView& cell() const { return decoder_.cell(); }
  void Pop();

 private:
  [[nodiscard]] bool InRow() const { return cursor_.Valid() && cursor_.key().starts_with(row_prefix_); }
  Status TakeRowHere();
  Status LookHere();
  // Goes to the family that is wanted next in this row, if it is not at hand.
  Result<bool> FamilyIsWanted();
  void Go(FamilySelector::Next next);
  void SkipColumn();
  void SkipTo(const std::string& key);
  void FollowHint();

  LookedAt cursor_;
  const RowWish& wish_;
  const KeyOrder order_;
  const std::uint64_t read_point_;
  ReadFilter* const filter_;
  CellDecoder decoder_;
  FamilySelector selector_;
  bool has_row_ = false;
  std::string row_;
  std::string row_prefix_;
  std::int64_t now_ms_ = 0;
  std::size_t family_ = 0;         // in wish_: the one at hand, or the next
  bool in_family_ = false;         // selector_ is at wish_[family_]
  bool selected_ = false;          // it stands at a selected cell
  FamilySelector::Next behind_{};  // where to go from there
  std::string next_row_;           // where the filter wants to go on; empty: it has not said
};

}  // namespace ratchet::regionserver
