// ServerShare: each online server's share of something that all servers together may do in a second. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "master/cluster/membership.h"

namespace ratchet::master {

// Loads of regions in heartbeats.
inline constexpr std::uint32_t kLoadsASecond = 20'000;
// Regions that the master checks in turn, because nothing announced a change. A million regions take 200 s.
inline constexpr std::uint32_t kLooksASecond = 5'000;

// At least 1, so that each server makes progress.
[[nodiscard]] constexpr std::uint32_t ShareOf(std::uint32_t all, std::size_t servers) {
  return std::max<std::uint32_t>(1, all / static_cast<std::uint32_t>(std::max<std::size_t>(servers, 1)));
}

class ServerShare {
 public:
  explicit ServerShare(std::uint32_t all) : all_(all) {}
  // Counts the servers again only after a change.
  [[nodiscard]] std::uint32_t Of(const Membership& servers) {
    const auto changes = static_cast<std::uint32_t>(servers.changes() + 1);  // read before the servers are counted
    const std::uint64_t last = last_.load();
    if (static_cast<std::uint32_t>(last >> 32U) == changes) return static_cast<std::uint32_t>(last);
    const std::uint32_t share = ShareOf(all_, servers.Online().size());
    last_.store(static_cast<std::uint64_t>(changes) << 32U | share);
    return share;
  }

 private:
  const std::uint32_t all_;
  std::atomic<std::uint64_t> last_{0};  // changes of the servers, share
};

}  // namespace ratchet::master
