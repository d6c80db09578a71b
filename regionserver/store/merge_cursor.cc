#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {
namespace {

// A handful of children: a linear search for the next one beats a heap.
class MergeCursor final : public CellCursor {
 public:
  MergeCursor(std::vector<std::unique_ptr<CellCursor>> children, KeyOrder order)
      : children_(std::move(children)), order_(order) {}

  void Seek(std::string_view key) override {
    for (auto& child : children_) child->Seek(key);
    forward_ = true;
    PickSmallest();
  }
  void SeekBefore(std::string_view key) override {
    for (auto& child : children_) child->SeekBefore(key);
    forward_ = false;
    PickLargest();
  }
  void SeekToLast() override {
    for (auto& child : children_) child->SeekToLast();
    forward_ = false;
    PickLargest();
  }
  void Next() override {
    if (!forward_) Turn(true);
    current_->Next();
    PickSmallest();
  }
  void Prev() override {
    if (forward_) Turn(false);
    current_->Prev();
    PickLargest();
  }
  [[nodiscard]] bool Valid() const override { return current_ != nullptr && status().ok(); }
  [[nodiscard]] std::string_view key() const override { return current_->key(); }
  [[nodiscard]] std::string_view value() const override { return current_->value(); }
  [[nodiscard]] Status status() const override {
    for (const auto& child : children_)
      if (!child->Valid()) RATCHET_TRY(child->status());
    return Ok();
  }

 private:
  // All children but the current one stand on its other side; bring them over.
  void Turn(bool forward) {
    forward_ = forward;
    const std::string here(current_->key());
    for (auto& child : children_) {
      if (child.get() == current_) continue;
      if (forward) child->Seek(here);
      else child->SeekBefore(here);
    }
  }
  void PickSmallest() {
    current_ = nullptr;
    for (auto& child : children_)
      if (child->Valid() && (current_ == nullptr || order_.Compare(child->key(), current_->key()) < 0))
        current_ = child.get();
  }
  void PickLargest() {
    current_ = nullptr;
    for (auto& child : children_)
      if (child->Valid() && (current_ == nullptr || order_.Compare(child->key(), current_->key()) > 0))
        current_ = child.get();
  }

  const std::vector<std::unique_ptr<CellCursor>> children_;
  const KeyOrder order_;
  CellCursor* current_ = nullptr;
  bool forward_ = true;
};

}  // namespace

std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> children, KeyOrder order) {
  return std::make_unique<MergeCursor>(std::move(children), order);
}

}  // namespace ratchet::regionserver
