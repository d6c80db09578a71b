#include "regionserver/store/memstore.h"

#include <utility>

namespace ratchet::regionserver {

namespace {
constexpr std::uint64_t kNodeOverhead = 112;  // of a map node and two strings
}

// Nodes of a map stay where they are, so that only the steps themselves need the lock. A value that is replaced under a cursor
// belongs to a sequence that is not yet readable, so no reader looks at it.
class MemstoreCursor final : public CellCursor {
 public:
  explicit MemstoreCursor(std::shared_ptr<const Memstore> store) : store_(std::move(store)) {}

  void Seek(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    at_ = store_->cells_.lower_bound(key);
    valid_ = at_ != store_->cells_.end();
  }
  void SeekBefore(std::string_view key) override {
    ReaderLock lock(store_->mutex_);
    at_ = store_->cells_.lower_bound(key);
    valid_ = at_ != store_->cells_.begin();
    if (valid_) --at_;
  }
  void SeekToLast() override {
    ReaderLock lock(store_->mutex_);
    valid_ = !store_->cells_.empty();
    if (valid_) at_ = std::prev(store_->cells_.end());
  }
  void Next() override {
    ReaderLock lock(store_->mutex_);
    ++at_;
    valid_ = at_ != store_->cells_.end();
  }
  void Prev() override {
    ReaderLock lock(store_->mutex_);
    valid_ = at_ != store_->cells_.begin();
    if (valid_) --at_;
  }
  [[nodiscard]] bool Valid() const override { return valid_; }
  [[nodiscard]] std::string_view key() const override { return at_->first; }
  [[nodiscard]] std::string_view value() const override { return at_->second; }
  [[nodiscard]] Status status() const override { return Ok(); }

 private:
  const std::shared_ptr<const Memstore> store_;
  Memstore::Cells::const_iterator at_;
  bool valid_ = false;
};

Memstore::~Memstore() { LeaveBudget(); }

void Memstore::LeaveBudget() {
  if (budget_ == nullptr || !counted_.exchange(false)) return;
  budget_->used.fetch_sub(bytes(), std::memory_order_relaxed);
}

void Memstore::Add(const CellView& cell, std::uint64_t sequence, std::int64_t ttl_ms) {
  std::string key = CellKey(cell, sequence);
  std::string value = EncodeStoredValue(cell.value, ttl_ms);
  const std::uint64_t size = key.size() + value.size() + kNodeOverhead;
  bytes_.fetch_add(size, std::memory_order_relaxed);
  if (budget_ != nullptr) budget_->used.fetch_add(size, std::memory_order_relaxed);
  WriterLock lock(mutex_);
  cells_.insert_or_assign(std::move(key), std::move(value));
}

std::unique_ptr<CellCursor> Memstore::NewCursor() const { return std::make_unique<MemstoreCursor>(shared_from_this()); }

}  // namespace ratchet::regionserver
