// Walks over a region's view: all its memstores and files of one moment, merged.
//
// Between two uses it may stand still without any cursor, and then a flushed memstore in it is exchanged for the file
// that holds the same cells: what a scan keeps waiting costs no memory of memstores (S63).
//
// One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "regionserver/region/store_view.h"

namespace ratchet::regionserver {

class ViewCursor final : public CellCursor {
 public:
  // Rests at first, and stands nowhere.
  ViewCursor(StoreView view, KeyOrder order) : view_(std::move(view)), order_(order) {}

  // Lets go of all cursors and stands where it is; nothing but Exchange and Resume may be called until Resume.
  void Rest();
  // Ready again, at the same cell.
  void Resume();
  // While it rests: `files` hold what `flushed` held. Moves what is not needed any more to `garbage`, to be destroyed
  // without locks.
  void Exchange(const std::shared_ptr<Memstore>& flushed,
                const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files,
                std::vector<std::shared_ptr<const void>>* garbage);

  void Seek(std::string_view key) override { cursor_->Seek(key); }
  void SeekBefore(std::string_view key) override { cursor_->SeekBefore(key); }
  void SeekToLast() override { cursor_->SeekToLast(); }
  void Next() override { cursor_->Next(); }
  void Prev() override { cursor_->Prev(); }
  [[nodiscard]] bool Valid() const override { return cursor_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return cursor_->key(); }
  [[nodiscard]] std::string_view value() const override { return cursor_->value(); }
  [[nodiscard]] Status status() const override { return cursor_->status(); }

 private:
  [[nodiscard]] std::unique_ptr<CellCursor> Make() const;

  StoreView view_;
  const KeyOrder order_;
  std::unique_ptr<CellCursor> cursor_;  // null: it rests
  bool stood_ = false;                  // when it came to rest, and where:
  std::string key_;
};

}  // namespace ratchet::regionserver
