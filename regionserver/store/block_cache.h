// The cache of the uncompressed blocks of all store files of this process. The least recently read block leaves first.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/live.h"

namespace rocksdb {
class Cache;
class Statistics;
}  // namespace rocksdb

namespace ratchet::regionserver {

class BlockCache {
 public:
  static constexpr std::uint64_t kDefaultBytes = 128U << 20;

  [[nodiscard]] static BlockCache& OfProcess();

  // May be called at any time; a smaller limit removes blocks.
  void SetLimit(std::uint64_t bytes);
  struct Use {
    std::uint64_t limit_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hits = 0;    // blocks found, since the start of the process
    std::uint64_t misses = 0;  // blocks read from files
  };
  [[nodiscard]] Use Look() const;

  // For the options of readers.
  [[nodiscard]] const std::shared_ptr<rocksdb::Cache>& blocks() const { return blocks_; }
  [[nodiscard]] const std::shared_ptr<rocksdb::Statistics>& counts() const { return counts_; }

 private:
  BlockCache();
  const std::shared_ptr<rocksdb::Cache> blocks_;
  const std::shared_ptr<rocksdb::Statistics> counts_;
};

// The limit of the process's cache: SetLimit at the start, and by Bind after each reload.
struct BlockCacheOptions {
  Live<std::uint64_t> bytes{BlockCache::kDefaultBytes};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes({"block-cache-bytes", "Size of the cache of store files' blocks.", {}}, &bytes, 1u << 20,
                      1ull << 40);
    settings.OnReload("block-cache-bytes", [limit = bytes] { BlockCache::OfProcess().SetLimit(limit); });
  }
};

}  // namespace ratchet::regionserver
