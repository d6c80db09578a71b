#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {
namespace {

// With few children a linear search for the next one is faster than a heap. While the current child stays before the
// runner-up, a step costs one comparison; with a single child none.
class MergeCursor final : public CellCursor {
 public:
  MergeCursor(std::vector<std::unique_ptr<CellCursor>> children, KeyOrder order) : order_(order) {
    for (auto& child : children) children_.push_back(Child{std::move(child), {}, false});
  }

  void Seek(std::string_view key) override {
    for (Child& child : children_) {
      child.cursor->Seek(key);
      Look(child);
    }
    forward_ = true;
    Pick();
  }
  void SeekBefore(std::string_view key) override {
    for (Child& child : children_) {
      child.cursor->SeekBefore(key);
      Look(child);
    }
    forward_ = false;
    Pick();
  }
  void SeekToLast() override {
    for (Child& child : children_) {
      child.cursor->SeekToLast();
      Look(child);
    }
    forward_ = false;
    Pick();
  }
  void Next() override {
    if (!forward_) Turn(true);
    current_->valid = current_->cursor->Step(&current_->key);
    if (!current_->valid && failure_.ok()) failure_ = current_->cursor->status();
    if (!StaysFirst()) Pick();
  }
  bool Step(std::string_view* key) override {
    Next();
    if (current_ == nullptr) return false;
    *key = current_->key;
    return true;
  }
  void Prev() override {
    if (forward_) Turn(false);
    current_->cursor->Prev();
    Look(*current_);
    if (!StaysFirst()) Pick();
  }
  [[nodiscard]] bool Valid() const override { return current_ != nullptr; }
  [[nodiscard]] std::string_view key() const override { return current_->key; }
  [[nodiscard]] std::string_view value() const override { return current_->cursor->value(); }
  [[nodiscard]] Status status() const override { return failure_; }

 private:
  struct Child {
    std::unique_ptr<CellCursor> cursor;
    std::string_view key;  // if `valid`
    bool valid = false;
  };

  // Caches a child's state after a move. A failed child makes the whole cursor fail.
  void Look(Child& child) {
    child.valid = child.cursor->Valid();
    if (child.valid) {
      child.key = child.cursor->key();
    } else if (failure_.ok()) {
      failure_ = child.cursor->status();
    }
  }
  [[nodiscard]] bool Before(std::string_view a, std::string_view b) const {
    const int order = order_.Compare(a, b);
    return forward_ ? order < 0 : order > 0;
  }
  [[nodiscard]] bool StaysFirst() const {
    return failure_.ok() && current_->valid && (second_ == nullptr || Before(current_->key, second_->key));
  }
  // All children except the current one are on its other side; move them over.
  void Turn(bool forward) {
    forward_ = forward;
    const std::string here(current_->key);
    for (Child& child : children_) {
      if (&child == current_) continue;
      if (forward)
        child.cursor->Seek(here);
      else
        child.cursor->SeekBefore(here);
      Look(child);
    }
    second_ = nullptr;
    for (Child& child : children_)
      if (&child != current_ && child.valid && (second_ == nullptr || Before(child.key, second_->key)))
        second_ = &child;
  }
  void Pick() {
    current_ = second_ = nullptr;
    if (!failure_.ok()) return;
    for (Child& child : children_) {
      if (!child.valid) continue;
      if (current_ == nullptr || Before(child.key, current_->key)) {
        second_ = current_;
        current_ = &child;
      } else if (second_ == nullptr || Before(child.key, second_->key)) {
        second_ = &child;
      }
    }
  }

  std::vector<Child> children_;
  const KeyOrder order_;
  Child* current_ = nullptr;
  Child* second_ = nullptr;  // the child that follows when current_ has passed its key
  Status failure_;
  bool forward_ = true;
};

}  // namespace

std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> children, KeyOrder order) {
  if (children.size() == 1) return std::move(children.front());
  return std::make_unique<MergeCursor>(std::move(children), order);
}

}  // namespace ratchet::regionserver
