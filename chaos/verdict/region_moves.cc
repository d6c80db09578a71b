#include "chaos/verdict/region_moves.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/core.h>

#include "chaos/report/timeline.h"
#include "chaos/verdict/settled.h"
#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

constexpr std::string_view kRow = "updating hbase:meta row=";
constexpr std::string_view kState = ", regionState=";
constexpr std::string_view kRows = "updating hbase:meta, ";
// The second form is that of 0.1 and 0.2, whose masters take part in runs with --released.
constexpr std::array<std::string_view, 2> kClaimed{" Activation: claimed epoch ", " Activation: this is epoch "};

struct Known {
  std::string master;
  RegionState state = RegionState::kOffline;
  std::optional<RegionState> before;  // where the region is when the last row was never written
};

bool MayGo(RegionState from, RegionState to) {
  if (IsLegalMove(from, to)) return true;
  constexpr RegionState kServerDied = RegionState::kAbnormallyClosed;
  return IsLegalMove(from, kServerDied) && IsLegalMove(kServerDied, to);
}

bool MayMove(const Known& known, const LoggedMove& move) {
  if (MayGo(known.state, *move.state)) return true;
  const bool successor = known.master != move.master;
  return successor && (!known.before || MayGo(*known.before, *move.state));
}

}  // namespace

std::optional<LoggedMove> ParseMove(const std::string& master, const std::string& line) {
  if (!LogLineMillis(line)) return std::nullopt;
  LoggedMove move{0, master, {}, std::nullopt};
  const auto row = line.find(kRow);
  if (row == std::string::npos) {
    return line.find(kRows) == std::string::npos ? std::nullopt : std::optional(move);
  }
  // A key in a region's name may have any bytes: the state is what comes last.
  const auto state = line.rfind(kState);
  if (state == std::string::npos || state < row) return std::nullopt;
  move.region = line.substr(row + kRow.size(), state - row - kRow.size());
  const auto begin = state + kState.size();
  move.state = ParseRegionState(std::string_view(line).substr(begin, line.find_first_of(", \n", begin) - begin));
  return move.state ? std::optional(move) : std::nullopt;
}

std::optional<std::uint64_t> ParseEpoch(const std::string& line) {
  for (const std::string_view claimed : kClaimed) {
    const auto at = line.find(claimed);
    if (at == std::string::npos || !LogLineMillis(line)) continue;
    std::uint64_t epoch = 0;
    const char* begin = line.data() + at + claimed.size();
    if (std::from_chars(begin, line.data() + line.size(), epoch).ec == std::errc()) return epoch;
  }
  return std::nullopt;
}

std::optional<LoggedMove> MoveLog::Read(const std::string& line) {
  if (const auto claimed = ParseEpoch(line)) epoch_ = *claimed;
  auto move = ParseMove(master_, line);
  if (move) move->epoch = epoch_;
  return move;
}

Finding JudgeMoves(std::vector<LoggedMove> moves) {
  std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
  std::map<std::string, Known> regions;
  std::vector<std::string> wrong;
  std::size_t judged = 0;
  for (const LoggedMove& move : moves) {
    if (!move.state) {
      regions.clear();  // any region may be among those that are not named
      continue;
    }
    const auto known = regions.find(move.region);
    if (known != regions.end()) {
      ++judged;
      if (!MayMove(known->second, move)) {
        wrong.push_back(fmt::format("region {}: from {} to {} by {}", move.region, RegionStateText(known->second.state),
                                    RegionStateText(*move.state), move.master));
      }
      known->second = {move.master, *move.state, known->second.state};
    } else {
      regions[move.region] = {move.master, *move.state, std::nullopt};
    }
  }
  if (moves.empty()) return {false, "no master logged a state of a region: nothing is known of their moves"};
  return Summary(
      fmt::format("{} between states of regions in the masters' logs: each is legal", Counted(judged, "move")),
      "illegal moves between states of regions", wrong);
}

}  // namespace ratchet::chaos
