// Walks over a region's view: all its memstores and files of one moment, merged.
//
// Between two uses it may rest without a cursor. Then a flushed memstore is exchanged for the file with the same cells,
// so a waiting scan holds no memstore memory (S63: bounded reads).
//
// One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regionserver/region/region_data.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

class ViewCursor final : public CellCursor {
 public:
  // Rests at first, without a position. `only_row` (empty: none): the cursor is used for this row alone. It skips files
  // whose filters exclude the row, so it lacks any number of cells of other rows.
  ViewCursor(StoreView view, KeyOrder order, std::string_view only_row = {}, ReadSource from = ReadSource::kDisk)
      : view_(std::move(view)),
        order_(order),
        only_row_(only_row.empty() ? std::string() : RowPrefix(only_row)),
        from_(from) {}

  // Destroys all cursors and keeps the position; only Exchange and Resume may be called until Resume.
  void Rest();
  // Makes the cursor ready again, at the same cell.
  void Resume();
  // Called while it rests: `files` hold the cells that `flushed` held. Moves objects that are no longer needed to
  // `garbage`, to be destroyed without locks.
  void Exchange(const std::shared_ptr<Memstore>& flushed, const ReadableFiles& files,
                std::vector<std::shared_ptr<const void>>* garbage);

  void Seek(std::string_view key) override { cursor_->Seek(key); }
  void SeekBefore(std::string_view key) override { cursor_->SeekBefore(key); }
  void SeekToLast() override { cursor_->SeekToLast(); }
  void Next() override { cursor_->Next(); }
  bool Step(std::string_view* key) override { return cursor_->Step(key); }
  void Prev() override { cursor_->Prev(); }
  [[nodiscard]] bool Valid() const override { return cursor_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return cursor_->key(); }
  [[nodiscard]] std::string_view value() const override { return cursor_->value(); }
  [[nodiscard]] Status status() const override { return cursor_->status(); }
  [[nodiscard]] CellCursor& Inner() override { return *cursor_; }  // until the cursor rests

 private:
  [[nodiscard]] std::unique_ptr<CellCursor> Make() const;

  StoreView view_;
  const KeyOrder order_;
  const std::string only_row_;  // its RowPrefix; empty: all rows
  const ReadSource from_;
  std::unique_ptr<CellCursor> cursor_;  // null: the cursor rests
  bool stood_ = false;                  // whether it had a position when it came to rest, and which:
  std::string key_;
};

}  // namespace ratchet::regionserver
