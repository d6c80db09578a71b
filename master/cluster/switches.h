// Switches: cluster-wide settings that operators turn on and off.
//
// After its first change, each has a system record of the procedure store, so that it survives failovers and is known
// before hbase:meta is loaded; without a record it has its default. Memory mirrors the record, and only SetSwitches
// changes either. A controlled function reads its switch under its own locks, at the latest possible moment.
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ratchet::master {

enum class Switch : std::uint8_t {
  kBalancer,
  kSplit,
  kMerge,
  kNormalizer,
  kCatalogJanitor,
  kCleaner,
  kSnapshotCleanup,
  kPeerModification,
  kRpcThrottle
};
inline constexpr std::array kSwitches{
    Switch::kBalancer,       Switch::kSplit,   Switch::kMerge,           Switch::kNormalizer,
    Switch::kCatalogJanitor, Switch::kCleaner, Switch::kSnapshotCleanup, Switch::kPeerModification,
    Switch::kRpcThrottle};
// "balancer", "split", "merge", "normalizer", "catalog-janitor", "cleaner", "snapshot-cleanup",
// "peer-modification", "rpc-throttle": part of stored keys, never changed.
[[nodiscard]] std::string_view SwitchName(Switch which);
[[nodiscard]] std::optional<Switch> SwitchNamed(std::string_view name);
// All switches are on by default, except the normalizer.
[[nodiscard]] constexpr bool DefaultOf(Switch which) { return which != Switch::kNormalizer; }

// The system record "switch/<name>" is "on" or "off".
inline constexpr std::string_view kSwitchRecordPrefix = "switch/";

class Switches {
 public:
  Switches();
  [[nodiscard]] bool IsOn(Switch which) const { return on_[Index(which)].load(); }
  // Applies the record; an absent or invalid record means the default.
  void Show(Switch which, std::string_view record);

 private:
  static constexpr std::size_t Index(Switch which) { return static_cast<std::size_t>(which); }
  std::array<std::atomic<bool>, kSwitches.size()> on_;
};

}  // namespace ratchet::master
