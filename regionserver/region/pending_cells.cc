#include "regionserver/region/pending_cells.h"

#include <iterator>

namespace ratchet::regionserver {

class PendingCells::Cursor final : public CellCursor {
 public:
  explicit Cursor(const Cells& cells) : cells_(cells), at_(cells.end()) {}
  void Seek(std::string_view key) override { at_ = cells_.lower_bound(key); }
  void SeekBefore(std::string_view key) override { StepBack(cells_.lower_bound(key)); }
  void SeekToLast() override { StepBack(cells_.end()); }
  void Next() override { ++at_; }
  void Prev() override { StepBack(at_); }
  [[nodiscard]] bool Valid() const override { return at_ != cells_.end(); }
  [[nodiscard]] std::string_view key() const override { return at_->first; }
  [[nodiscard]] std::string_view value() const override { return at_->second; }
  [[nodiscard]] Status status() const override { return Ok(); }

 private:
  void StepBack(Cells::const_iterator from) { at_ = from == cells_.begin() ? cells_.end() : std::prev(from); }

  const Cells& cells_;
  Cells::const_iterator at_;
};

void PendingCells::AddNew(const std::vector<LoggedCell>& cells) {
  for (; taken_ < cells.size(); ++taken_) {
    const LoggedCell& logged = cells[taken_];
    cells_.emplace(CellKey(logged.cell, kFirstPlannedSequence + 1 + taken_),
                   EncodeStoredValue(logged.cell.value, logged.ttl_ms, logged.cell.tags));
  }
}

std::optional<PendingCells::Place> PendingCells::Add(const LoggedCell& logged, std::uint64_t sequence) {
  const auto [place, added] =
      cells_.insert_or_assign(CellKey(logged.cell, kFirstPendingSequence + sequence),
                              EncodeStoredValue(logged.cell.value, logged.ttl_ms, logged.cell.tags));
  return added ? std::optional<Place>(place) : std::nullopt;
}

std::unique_ptr<CellCursor> PendingCells::NewCursor() const { return std::make_unique<Cursor>(cells_); }

}  // namespace ratchet::regionserver
