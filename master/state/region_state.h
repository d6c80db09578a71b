// The states of a region, the legal moves between them, and the one function that makes a move.
#pragma once

#include "common/model/region_state.h"

namespace ratchet::master {

// HBase's names and numbers; HBase's texts in hbase:meta.
using RegionState = RegionStateName;

// Staying where one is, is legal: steps run more than once.
[[nodiscard]] bool IsLegalMove(RegionState from, RegionState to);

// No procedure has to do anything about a region in this state.
[[nodiscard]] constexpr bool IsAtRest(RegionState state) {
  return state == RegionState::kOpen || state == RegionState::kOffline || state == RegionState::kClosed ||
         state == RegionState::kSplit || state == RegionState::kMerged;
}

// Some server may have the region, or may have been told to get or to drop it.
[[nodiscard]] constexpr bool NeedsServer(RegionState state) {
  return state == RegionState::kOpening || state == RegionState::kOpen || state == RegionState::kClosing ||
         state == RegionState::kSplitting || state == RegionState::kMerging;
}

// state = to. Throws (std::logic_error) at an illegal move, which fails the step that asks: rows and records are bytes.
// `what`: the region.
void MoveState(RegionState& state, RegionState to, const char* what);

}  // namespace ratchet::master
