#include "common/model/region_state.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "common/base/state_moves.h"

namespace ratchet {
namespace {

constexpr std::array<std::pair<RegionState, std::string_view>, 14> kTexts{{
    {RegionState::kOffline, "OFFLINE"},
    {RegionState::kOpening, "OPENING"},
    {RegionState::kOpen, "OPEN"},
    {RegionState::kClosing, "CLOSING"},
    {RegionState::kClosed, "CLOSED"},
    {RegionState::kSplitting, "SPLITTING"},
    {RegionState::kSplit, "SPLIT"},
    {RegionState::kFailedOpen, "FAILED_OPEN"},
    {RegionState::kFailedClose, "FAILED_CLOSE"},
    {RegionState::kMerging, "MERGING"},
    {RegionState::kMerged, "MERGED"},
    {RegionState::kSplittingNew, "SPLITTING_NEW"},
    {RegionState::kMergingNew, "MERGING_NEW"},
    {RegionState::kAbnormallyClosed, "ABNORMALLY_CLOSED"},
}};

using enum RegionState;

// The states that may follow each state. A server's crash moves each region that needs a server to ABNORMALLY_CLOSED.
// An opening that was refused goes to FAILED_OPEN when it is shown, or straight to its next OPENING. A region that is
// closed in order to move is OFFLINE, because CLOSED would mean that it should stay closed.
StateSet<RegionState> MovesFrom(RegionState from) {
  switch (from) {
    case kOffline: return {kOpening, kClosed, kSplit, kMerged, kSplittingNew, kMergingNew};
    case kOpening: return {kOpen, kFailedOpen, kAbnormallyClosed, kClosing, kClosed};
    case kOpen: return {kClosing, kAbnormallyClosed, kSplitting, kMerging};
    case kClosing: return {kClosed, kAbnormallyClosed, kOffline};
    case kClosed: return {kOpening, kOffline, kSplitting, kMerging};
    case kSplitting: return {kClosing, kOffline, kSplit, kOpen, kAbnormallyClosed};
    case kFailedOpen: return {kOpening, kClosed, kOffline};
    case kMerging: return {kClosing, kOffline, kMerged, kOpen, kAbnormallyClosed};
    case kSplittingNew:
    case kMergingNew: return {kOpening, kOffline, kClosed};
    case kAbnormallyClosed: return {kOpening, kClosed};
    case kSplit:
    case kMerged:
    case kFailedClose: return {};
  }
  return {};
}

}  // namespace

bool IsLegalMove(RegionState from, RegionState to) { return MayGo(from, to, MovesFrom(from)); }

void MoveState(RegionState& state, RegionState to, const char* what) {
  if (!IsLegalMove(state, to)) {
    throw std::logic_error(
        fmt::format("region {}: illegal move from {} to {}", what, RegionStateText(state), RegionStateText(to)));
  }
  state = to;
}

std::string_view RegionStateText(RegionState state) {
  for (const auto& [known, text] : kTexts) {
    if (known == state) return text;
  }
  return "UNKNOWN";
}

std::optional<RegionState> ParseRegionState(std::string_view text) {
  for (const auto& [state, known] : kTexts) {
    if (known == text) return state;
  }
  return std::nullopt;
}

std::optional<RegionState> RegionStateFromNumber(int number) {
  for (const auto& [state, text] : kTexts) {
    if (static_cast<int>(state) == number) return state;
  }
  return std::nullopt;
}

std::string_view TableStateText(TableState state) {
  switch (state) {
    case TableState::kEnabled: return "ENABLED";
    case TableState::kDisabled: return "DISABLED";
    case TableState::kDisabling: return "DISABLING";
    case TableState::kEnabling: return "ENABLING";
  }
  return "UNKNOWN";
}

}  // namespace ratchet
