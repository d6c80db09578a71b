// The states of a region and of a table, under HBase's names and numbers, the legal moves of a region, and the one
// function that makes a move. master/README.md draws the moves; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ratchet {

// Values are those on the wire (RegionState.State) and texts those in info:state. PENDING_* are of HBase 1 and never
// used.
enum class RegionState : std::uint8_t {
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

inline constexpr std::array kRegionStates{
    RegionState::kOffline,     RegionState::kOpening,         RegionState::kOpen,   RegionState::kClosing,
    RegionState::kClosed,      RegionState::kSplitting,       RegionState::kSplit,  RegionState::kFailedOpen,
    RegionState::kFailedClose, RegionState::kMerging,         RegionState::kMerged, RegionState::kSplittingNew,
    RegionState::kMergingNew,  RegionState::kAbnormallyClosed};

// "OPENING"
[[nodiscard]] std::string_view RegionStateText(RegionState state);
[[nodiscard]] std::optional<RegionState> ParseRegionState(std::string_view text);
[[nodiscard]] std::optional<RegionState> RegionStateFromNumber(int number);

// Staying in a state is legal, because steps run more than once.
[[nodiscard]] bool IsLegalMove(RegionState from, RegionState to);

// No procedure has to do anything about a region in this state.
[[nodiscard]] constexpr bool IsAtRest(RegionState state) {
  return state == RegionState::kOpen || state == RegionState::kOffline || state == RegionState::kClosed ||
         state == RegionState::kSplit || state == RegionState::kMerged;
}

// Other regions have the rows of the region; it never opens again.
[[nodiscard]] constexpr bool IsSplitOrMerged(RegionState state) {
  return state == RegionState::kSplit || state == RegionState::kMerged;
}

// A split or a merge makes the region; other regions still have its rows.
[[nodiscard]] constexpr bool IsBeingMade(RegionState state) {
  return state == RegionState::kSplittingNew || state == RegionState::kMergingNew;
}

// This region has its rows.
[[nodiscard]] constexpr bool HasItsRows(RegionState state) { return !IsSplitOrMerged(state) && !IsBeingMade(state); }

// Some server may have the region, or may have an order to open or close it.
[[nodiscard]] constexpr bool NeedsServer(RegionState state) {
  return state == RegionState::kOpening || state == RegionState::kOpen || state == RegionState::kClosing ||
         state == RegionState::kSplitting || state == RegionState::kMerging;
}

// Sets state = to. Throws (std::logic_error) at an illegal move, which fails the calling step, because rows and records
// are untrusted bytes. `what`: the region.
void MoveState(RegionState& state, RegionState to, const char* what);

// Values are those on the wire (TableState.State).
enum class TableState : std::uint8_t { kEnabled = 0, kDisabled = 1, kDisabling = 2, kEnabling = 3 };

[[nodiscard]] std::string_view TableStateText(TableState state);

}  // namespace ratchet
