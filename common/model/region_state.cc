#include "common/model/region_state.h"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

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

// From each state, where it may go. A server's crash takes whatever needs a server to ABNORMALLY_CLOSED; an opening
// that was refused goes to FAILED_OPEN when it is shown, or straight to its next OPENING. Closed on its way elsewhere
// it is OFFLINE: CLOSED would say that it is wanted closed.
std::span<const RegionState> MovesFrom(RegionState from) {
  static constexpr std::array kFromOffline{kOpening, kClosed, kSplittingNew, kMergingNew};
  static constexpr std::array kFromOpening{kOpen, kFailedOpen, kAbnormallyClosed, kClosing, kClosed};
  static constexpr std::array kFromOpen{kClosing, kAbnormallyClosed, kSplitting, kMerging};
  static constexpr std::array kFromClosing{kClosed, kAbnormallyClosed, kOffline};
  static constexpr std::array kFromClosed{kOpening, kOffline, kSplit, kMerged, kSplitting, kMerging};
  static constexpr std::array kFromSplitting{kClosing, kClosed, kSplit, kOpen, kAbnormallyClosed};
  static constexpr std::array kFromFailedOpen{kOpening, kClosed, kOffline};
  static constexpr std::array kFromMerging{kClosing, kClosed, kMerged, kOpen, kAbnormallyClosed};
  static constexpr std::array kFromNew{kOpening, kOffline, kClosed};
  static constexpr std::array kFromAbnormal{kOpening, kClosed};
  switch (from) {
    case kOffline: return kFromOffline;
    case kOpening: return kFromOpening;
    case kOpen: return kFromOpen;
    case kClosing: return kFromClosing;
    case kClosed: return kFromClosed;
    case kSplitting: return kFromSplitting;
    case kFailedOpen: return kFromFailedOpen;
    case kMerging: return kFromMerging;
    case kSplittingNew:
    case kMergingNew: return kFromNew;
    case kAbnormallyClosed: return kFromAbnormal;
    case kSplit:
    case kMerged:
    case kFailedClose: return {};
  }
  return {};
}

}  // namespace

bool IsLegalMove(RegionState from, RegionState to) {
  if (from == to) return true;
  const auto moves = MovesFrom(from);
  return std::find(moves.begin(), moves.end(), to) != moves.end();
}

void MoveState(RegionState& state, RegionState to, const char* what) {
  if (!IsLegalMove(state, to)) {
    throw std::logic_error(
        fmt::format("region {}: no way from {} to {}", what, RegionStateText(state), RegionStateText(to)));
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
