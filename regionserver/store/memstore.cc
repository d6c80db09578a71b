#include "regionserver/store/memstore.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ratchet::regionserver {

namespace {
constexpr std::uint64_t kNodeOverhead = 24;     // sizes, places in leaves, and padding
constexpr std::size_t kMostScratch = 64 << 10;  // capacity that is kept for the next cell
}  // namespace

// Cells never change, so only the steps themselves need the lock; forward, one lock covers many steps.
class MemstoreCursor final : public CellCursor {
 public:
  explicit MemstoreCursor(std::shared_ptr<const Memstore> store) : store_(std::move(store)) {}

  void Seek(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    ReadFrom(store_->cells_.LowerBound(key));
  }
  void SeekBefore(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    StandAt(store_->cells_.Before(store_->cells_.LowerBound(key)));
  }
  void SeekToLast() override {
    ReaderLock lock(store_->mutex_);
    StandAt(store_->cells_.Before({}));
  }
  void Next() override {
    if (++at_ < count_) {
      if (at_ + kPrefetched < count_) Prefetch(ahead_[at_ + kPrefetched]);
      return;
    }
    ReaderLock lock(store_->mutex_);
    CellTree::Place place = store_->cells_.Find(last_, ahead_[count_ - 1]);
    place.Next();
    ReadFrom(place);
  }
  bool Step(std::string_view* key) override {
    Next();
    if (at_ == count_) return false;
    *key = ahead_[at_]->key();
    return true;
  }
  void Prev() override {
    ReaderLock lock(store_->mutex_);
    StandAt(store_->cells_.Before(store_->cells_.LowerBound(key())));
  }
  [[nodiscard]] bool Valid() const override { return at_ < count_; }
  [[nodiscard]] std::string_view key() const override { return ahead_[at_]->key(); }
  [[nodiscard]] std::string_view value() const override { return ahead_[at_]->value(); }
  [[nodiscard]] Status status() const override { return Ok(); }

 private:
  static constexpr std::size_t kFewest = 1;  // enough for a read of one cell
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kPrefetched = 8;  // number of cells whose memory is loaded in advance

  static void Prefetch(const CellTree::Entry* entry) {
    constexpr std::size_t kLine = 64;
    const char* const bytes = reinterpret_cast<const char*>(entry);
    for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(bytes + line * kLine);
  }
  void ReadFrom(CellTree::Place place) REQUIRES_SHARED(store_->mutex_) {
    wanted_ = at_ == count_ && count_ > 0 ? std::min(wanted_ * 2, kMost) : kFewest;
    at_ = 0;
    for (count_ = 0; count_ < wanted_ && !place.AtEnd(); place.Next()) {
      if (count_ < kPrefetched) Prefetch(place.entry());
      ahead_[count_++] = place.entry();
      last_ = place;
    }
  }
  void StandAt(CellTree::Place place) REQUIRES_SHARED(store_->mutex_) {
    at_ = count_ = 0;
    if (place.AtEnd()) return;
    ahead_[count_++] = place.entry();
    last_ = place;
  }

  const std::shared_ptr<const Memstore> store_;
  std::array<const CellTree::Entry*, kMost> ahead_;  // the current cell, and those after it
  std::size_t at_ = 0;
  std::size_t count_ = 0;
  std::size_t wanted_ = kFewest;
  CellTree::Place last_;  // of the last cell in ahead_
};

void* CellArena::do_allocate(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t kMostOfChunk = 256 << 10;
  const std::size_t skip = (alignment - reinterpret_cast<std::uintptr_t>(at_) % alignment) % alignment;
  if (left_ >= skip + bytes) {
    char* const place = at_ + skip;
    at_ = place + bytes;
    left_ -= skip + bytes;
    return place;
  }
  // A chunk from the heap is aligned for every type.
  const bool own = bytes > next_chunk_ / 4;
  const std::size_t size = own ? bytes : next_chunk_;
  char* const chunk = chunks_.emplace_back(std::make_unique_for_overwrite<char[]>(size)).get();
  if (own && left_ > 0) return chunk;
  at_ = chunk + bytes;
  left_ = size - bytes;
  if (!own) next_chunk_ = std::min(2 * next_chunk_, kMostOfChunk);
  return chunk;
}

Memstore::~Memstore() {
  if (budget_ != nullptr) budget_->used.fetch_sub(bytes(), std::memory_order_relaxed);
}

void Memstore::Add(const CellView& cell, std::uint64_t sequence, std::optional<std::int64_t> ttl_ms) {
  WriterLock lock(mutex_);
  cell_.clear();
  AppendCellKey(cell, sequence, cell_);
  const std::size_t key_size = cell_.size();
  AppendStoredValue(cell.value, ttl_ms, cell.tags, cell_);
  const std::uint64_t size = cell_.size() + kNodeOverhead;
  bytes_.fetch_add(size, std::memory_order_relaxed);
  if (budget_ != nullptr) budget_->used.fetch_add(size, std::memory_order_relaxed);
  cells_.Put(cell_, key_size);
  if (cell_.capacity() > kMostScratch) cell_ = {};
}

std::unique_ptr<CellCursor> Memstore::NewCursor() const { return std::make_unique<MemstoreCursor>(shared_from_this()); }

}  // namespace ratchet::regionserver
