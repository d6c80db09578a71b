#include "master/service/load_book.h"

#include <algorithm>
#include <set>

#include "common/model/codec.h"

namespace ratchet::master {

namespace {

constexpr Millis kKeepLoad{10 * 60'000};  // of a server that says nothing any more
constexpr std::size_t kSlack = 1'000;     // regions

}  // namespace

void LoadBook::Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now) {
  MutexLock lock(mutex_);
  for (const auto& region : load.region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (!encoded.ok() || !region.has_complete_sequence_id()) continue;
    std::uint64_t& flushed = flushed_[*encoded];
    flushed = std::max<std::uint64_t>(flushed, region.complete_sequence_id());
  }
  pages_[server] = Page{std::move(load), now};
  std::erase_if(pages_, [now](const auto& entry) { return now - entry.second.at > kKeepLoad; });
  // Regions that no server lists any more (dropped tables, splits): once they are the half, they go.
  std::size_t listed = 0;
  for (const auto& entry : pages_) listed += static_cast<std::size_t>(entry.second.load.region_loads_size());
  if (flushed_.size() <= 2 * listed + kSlack) return;
  std::set<std::string> named;
  for (const auto& entry : pages_) {
    for (const auto& region : entry.second.load.region_loads()) {
      if (auto encoded = EncodedNameOf(region.region_specifier()); encoded.ok()) named.insert(std::move(*encoded));
    }
  }
  std::erase_if(flushed_, [&named](const auto& entry) { return !named.contains(entry.first); });
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
