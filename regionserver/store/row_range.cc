#include "regionserver/store/row_range.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ratchet::regionserver {
namespace {

class RangeCursor final : public CellCursor {
 public:
  RangeCursor(std::unique_ptr<CellCursor> cells, std::string_view low, std::string_view high)
      : cells_(std::move(cells)),
        low_(low.empty() ? std::string() : RowPrefix(low)),
        high_(high.empty() ? std::string() : RowPrefix(high)) {}
  void Seek(std::string_view key) override { cells_->Seek(std::max(key, std::string_view(low_))); }
  void SeekBefore(std::string_view key) override {
    cells_->SeekBefore(high_.empty() ? key : std::min(key, std::string_view(high_)));
  }
  void SeekToLast() override { high_.empty() ? cells_->SeekToLast() : cells_->SeekBefore(high_); }
  void Next() override { cells_->Next(); }
  void Prev() override { cells_->Prev(); }
  [[nodiscard]] bool Valid() const override {
    return cells_->Valid() && cells_->key() >= low_ && (high_.empty() || cells_->key() < high_);
  }
  [[nodiscard]] std::string_view key() const override { return cells_->key(); }
  [[nodiscard]] std::string_view value() const override { return cells_->value(); }
  [[nodiscard]] Status status() const override { return cells_->status(); }

 private:
  const std::unique_ptr<CellCursor> cells_;
  const std::string low_;  // a key at or before every key of the row
  const std::string high_;
};

}  // namespace

std::unique_ptr<CellCursor> OnlyRows(std::unique_ptr<CellCursor> cells, std::string_view low, std::string_view high) {
  return std::make_unique<RangeCursor>(std::move(cells), low, high);
}

RowRange Shared(const RowRange& a, const RowRange& b) {
  RowRange shared{std::max(a.low, b.low), a.high};
  if (shared.high.empty() || (!b.high.empty() && b.high < shared.high)) shared.high = b.high;
  return shared;
}

}  // namespace ratchet::regionserver
