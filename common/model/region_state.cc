#include "common/model/region_state.h"

#include <array>
#include <utility>

namespace ratchet {
namespace {

constexpr std::array<std::pair<RegionStateName, std::string_view>, 14> kRegionStates{{
    {RegionStateName::kOffline, "OFFLINE"},
    {RegionStateName::kOpening, "OPENING"},
    {RegionStateName::kOpen, "OPEN"},
    {RegionStateName::kClosing, "CLOSING"},
    {RegionStateName::kClosed, "CLOSED"},
    {RegionStateName::kSplitting, "SPLITTING"},
    {RegionStateName::kSplit, "SPLIT"},
    {RegionStateName::kFailedOpen, "FAILED_OPEN"},
    {RegionStateName::kFailedClose, "FAILED_CLOSE"},
    {RegionStateName::kMerging, "MERGING"},
    {RegionStateName::kMerged, "MERGED"},
    {RegionStateName::kSplittingNew, "SPLITTING_NEW"},
    {RegionStateName::kMergingNew, "MERGING_NEW"},
    {RegionStateName::kAbnormallyClosed, "ABNORMALLY_CLOSED"},
}};

}  // namespace

std::string_view RegionStateText(RegionStateName state) {
  for (const auto& [known, text] : kRegionStates) {
    if (known == state) return text;
  }
  return "UNKNOWN";
}

std::optional<RegionStateName> ParseRegionState(std::string_view text) {
  for (const auto& [state, known] : kRegionStates) {
    if (known == text) return state;
  }
  return std::nullopt;
}

std::optional<RegionStateName> RegionStateFromNumber(int number) {
  for (const auto& [state, text] : kRegionStates) {
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
