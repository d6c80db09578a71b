#include "master/service/load_book.h"

#include <algorithm>

#include "common/model/codec.h"

namespace ratchet::master {

void LoadBook::Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now) {
  MutexLock lock(mutex_);
  for (const auto& region : load.region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (!encoded.ok() || !region.has_complete_sequence_id()) continue;
    std::uint64_t& flushed = flushed_[*encoded];
    flushed = std::max<std::uint64_t>(flushed, region.complete_sequence_id());
  }
  pages_[server] = Page{std::move(load), now};
}

void LoadBook::Remove(const ServerName& server) {
  MutexLock lock(mutex_);
  pages_.erase(server);
}

std::optional<hbase::pb::ServerLoad> LoadBook::Get(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end()) return std::nullopt;
  return found->second.load;
}

std::optional<std::uint64_t> LoadBook::FlushedSequence(const std::string& encoded_region) const {
  MutexLock lock(mutex_);
  const auto found = flushed_.find(encoded_region);
  if (found == flushed_.end()) return std::nullopt;
  return found->second;
}

}  // namespace ratchet::master
