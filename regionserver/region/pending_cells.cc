#include "regionserver/region/pending_cells.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ratchet::regionserver {
namespace {

class PendingCursor final : public CellCursor {
 public:
  PendingCursor(std::vector<std::pair<std::string, std::string>> cells, KeyOrder order)
      : cells_(std::move(cells)), order_(order) {}
  void Seek(std::string_view key) override { at_ = LowerBound(key); }
  void SeekBefore(std::string_view key) override {
    const std::size_t bound = LowerBound(key);
    at_ = bound == 0 ? cells_.size() : bound - 1;
  }
  void SeekToLast() override { at_ = cells_.empty() ? 0 : cells_.size() - 1; }
  void Next() override { ++at_; }
  void Prev() override { at_ = at_ == 0 ? cells_.size() : at_ - 1; }
  [[nodiscard]] bool Valid() const override { return at_ < cells_.size(); }
  [[nodiscard]] std::string_view key() const override { return cells_[at_].first; }
  [[nodiscard]] std::string_view value() const override { return cells_[at_].second; }
  [[nodiscard]] Status status() const override { return Ok(); }

 private:
  [[nodiscard]] std::size_t LowerBound(std::string_view key) const {
    const auto found =
        std::lower_bound(cells_.begin(), cells_.end(), key,
                         [this](const auto& cell, std::string_view wanted) { return order_(cell.first, wanted); });
    return static_cast<std::size_t>(found - cells_.begin());
  }

  const std::vector<std::pair<std::string, std::string>> cells_;
  const KeyOrder order_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<CellCursor> PendingCells(const std::vector<LoggedCell>& pending, KeyOrder order) {
  std::vector<std::pair<std::string, std::string>> cells;
  cells.reserve(pending.size());
  std::uint64_t sequence = kFirstPendingSequence;
  for (const LoggedCell& logged : pending)
    cells.emplace_back(CellKey(logged.cell, ++sequence), EncodeStoredValue(logged.cell.value, logged.ttl_ms));
  std::sort(cells.begin(), cells.end(), [order](const auto& a, const auto& b) { return order(a.first, b.first); });
  return std::make_unique<PendingCursor>(std::move(cells), order);
}

}  // namespace ratchet::regionserver
