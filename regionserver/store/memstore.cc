#include "regionserver/store/memstore.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ratchet::regionserver {

namespace {
constexpr std::uint64_t kNodeOverhead = 112;  // size of a map node and two strings
}

// Nodes of a map do not move, so only the steps themselves need the lock; forward, one lock covers many steps. Cells
// that are added or replaced meanwhile have sequences above the read point of every current reader.
class MemstoreCursor final : public CellCursor {
 public:
  explicit MemstoreCursor(std::shared_ptr<const Memstore> store) : store_(std::move(store)) {}

  void Seek(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    ReadFrom(store_->cells_.lower_bound(key));
  }
  void SeekBefore(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    StandBefore(store_->cells_.lower_bound(key));
  }
  void SeekToLast() override {
    ReaderLock lock(store_->mutex_);
    StandBefore(store_->cells_.end());
  }
  void Next() override {
    if (++at_ < count_) return;
    ReaderLock lock(store_->mutex_);
    ReadFrom(std::next(ahead_[count_ - 1]));
  }
  void Prev() override {
    ReaderLock lock(store_->mutex_);
    StandBefore(ahead_[at_]);
  }
  [[nodiscard]] bool Valid() const override { return at_ < count_; }
  [[nodiscard]] std::string_view key() const override { return ahead_[at_]->first; }
  [[nodiscard]] std::string_view value() const override { return ahead_[at_]->second; }
  [[nodiscard]] Status status() const override { return Ok(); }

 private:
  using Place = Memstore::Cells::const_iterator;
  static constexpr std::size_t kFewest = 1;  // enough for a read of one cell
  static constexpr std::size_t kMost = 64;

  void ReadFrom(Place place) REQUIRES_SHARED(store_->mutex_) {
    const Place end = store_->cells_.end();
    wanted_ = at_ == count_ && count_ > 0 ? std::min(wanted_ * 2, kMost) : kFewest;
    at_ = 0;
    for (count_ = 0; count_ < wanted_ && place != end; ++place) {
      // Prefetched while the search for the next cell continues.
      __builtin_prefetch(place->first.data());
      __builtin_prefetch(place->second.data());
      ahead_[count_++] = place;
    }
  }
  void StandBefore(Place place) REQUIRES_SHARED(store_->mutex_) {
    at_ = count_ = 0;
    if (place == store_->cells_.begin()) return;
    ahead_[count_++] = std::prev(place);
  }

  const std::shared_ptr<const Memstore> store_;
  std::array<Place, kMost> ahead_;  // the current cell, and those after it
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::size_t wanted_ = kFewest;
};

Memstore::~Memstore() {
  if (budget_ != nullptr) budget_->used.fetch_sub(bytes(), std::memory_order_relaxed);
}

void Memstore::Add(const CellView& cell, std::uint64_t sequence, std::optional<std::int64_t> ttl_ms) {
  std::string key = CellKey(cell, sequence);
  std::string value = EncodeStoredValue(cell.value, ttl_ms, cell.tags);
  const std::uint64_t size = key.size() + value.size() + kNodeOverhead;
  bytes_.fetch_add(size, std::memory_order_relaxed);
  if (budget_ != nullptr) budget_->used.fetch_add(size, std::memory_order_relaxed);
  WriterLock lock(mutex_);
  cells_.insert_or_assign(std::move(key), std::move(value));
}

std::unique_ptr<CellCursor> Memstore::NewCursor() const { return std::make_unique<MemstoreCursor>(shared_from_this()); }

}  // namespace ratchet::regionserver
