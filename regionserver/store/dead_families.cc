#include "regionserver/store/dead_families.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ratchet::regionserver {
namespace {

class LivingCursor final : public CellCursor {
 public:
  LivingCursor(std::unique_ptr<CellCursor> cells, const std::set<std::string, std::less<>>& families)
      : cells_(std::move(cells)) {
    for (const std::string& family : families) AppendEscaped(family, dead_.emplace_back());
  }
  void Seek(std::string_view key) override {
    cells_->Seek(key);
    Forward();
  }
  void SeekBefore(std::string_view key) override {
    cells_->SeekBefore(key);
    Backward();
  }
  void SeekToLast() override {
    cells_->SeekToLast();
    Backward();
  }
  void Next() override {
    cells_->Next();
    Forward();
  }
  void Prev() override {
    cells_->Prev();
    Backward();
  }
  [[nodiscard]] bool Valid() const override { return cells_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return cells_->key(); }
  [[nodiscard]] std::string_view value() const override { return cells_->value(); }
  [[nodiscard]] Status status() const override { return cells_->status(); }

 private:
  [[nodiscard]] bool Dead() const {
    const std::string_view key = cells_->key();
    const std::string_view rest = key.substr(EncodedRowOf(key).size());
    return std::any_of(dead_.begin(), dead_.end(),
                       [rest](const std::string& family) { return rest.starts_with(family); });
  }
  void Forward() {
    while (cells_->Valid() && Dead()) cells_->Next();
  }
  void Backward() {
    while (cells_->Valid() && Dead()) cells_->Prev();
  }

  const std::unique_ptr<CellCursor> cells_;
  std::vector<std::string> dead_;  // escaped, so that no name is a prefix of another one
};

}  // namespace

std::unique_ptr<CellCursor> WithoutFamilies(std::unique_ptr<CellCursor> cells,
                                            const std::set<std::string, std::less<>>& families) {
  return std::make_unique<LivingCursor>(std::move(cells), families);
}

}  // namespace ratchet::regionserver
