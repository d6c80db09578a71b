// The states of a region and of a table, under HBase's names and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ratchet {

// Values are those on the wire (RegionState.State) and texts those in info:state. PENDING_* are of HBase 1 and never
// used.
enum class RegionStateName : std::uint8_t {
  kOffline = 0,
  kOpening = 2,
  kOpen = 3,
  kClosing = 5,
  kClosed = 6,
  kSplitting = 7,
  kSplit = 8,
  kFailedOpen = 9,
  kFailedClose = 10,
  kMerging = 11,
  kMerged = 12,
  kSplittingNew = 13,
  kMergingNew = 14,
  kAbnormallyClosed = 15,
};

// "OPENING"
[[nodiscard]] std::string_view RegionStateText(RegionStateName state);
[[nodiscard]] std::optional<RegionStateName> ParseRegionState(std::string_view text);
[[nodiscard]] std::optional<RegionStateName> RegionStateFromNumber(int number);

// Values are those on the wire (TableState.State).
enum class TableState : std::uint8_t { kEnabled = 0, kDisabled = 1, kDisabling = 2, kEnabling = 3 };

[[nodiscard]] std::string_view TableStateText(TableState state);

}  // namespace ratchet
