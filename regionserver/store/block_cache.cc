#include "regionserver/store/block_cache.h"

#include <rocksdb/cache.h>
#include <rocksdb/statistics.h>

#include <atomic>

namespace ratchet::regionserver {
namespace {

// Counts hits and misses only. RocksDB's own class counts ten events for each look-up, which a get of one row notices.
class CacheCounts final : public rocksdb::Statistics {
 public:
  CacheCounts() { set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers); }
  [[nodiscard]] const char* Name() const override { return "ratchet.CacheCounts"; }
  [[nodiscard]] std::uint64_t getTickerCount(std::uint32_t ticker) const override {
    if (ticker == rocksdb::BLOCK_CACHE_HIT) return hits_.load(std::memory_order_relaxed);
    return ticker == rocksdb::BLOCK_CACHE_MISS ? misses_.load(std::memory_order_relaxed) : 0;
  }
  void recordTick(std::uint32_t ticker, std::uint64_t count) override {
    if (ticker == rocksdb::BLOCK_CACHE_HIT) hits_.fetch_add(count, std::memory_order_relaxed);
    if (ticker == rocksdb::BLOCK_CACHE_MISS) misses_.fetch_add(count, std::memory_order_relaxed);
  }
  void histogramData(std::uint32_t /*type*/, rocksdb::HistogramData* const /*data*/) const override {}
  void setTickerCount(std::uint32_t /*ticker*/, std::uint64_t /*count*/) override {}
  std::uint64_t getAndResetTickerCount(std::uint32_t /*ticker*/) override { return 0; }
  void recordInHistogram(std::uint32_t /*type*/, std::uint64_t /*value*/) override {}
  [[nodiscard]] bool HistEnabledForType(std::uint32_t /*type*/) const override { return false; }

 private:
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
};

}  // namespace

BlockCache::BlockCache() : blocks_(rocksdb::NewLRUCache(kDefaultBytes)), counts_(std::make_shared<CacheCounts>()) {}

BlockCache& BlockCache::OfProcess() {
  static auto* const cache = new BlockCache;  // never freed: readers may live until the process ends
  return *cache;
}

void BlockCache::SetLimit(std::uint64_t bytes) { blocks_->SetCapacity(bytes); }

BlockCache::Use BlockCache::Look() const {
  return {blocks_->GetCapacity(), blocks_->GetUsage(), counts_->getTickerCount(rocksdb::BLOCK_CACHE_HIT),
          counts_->getTickerCount(rocksdb::BLOCK_CACHE_MISS)};
}

}  // namespace ratchet::regionserver
