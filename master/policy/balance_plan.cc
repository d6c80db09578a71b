#include "master/policy/balance_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace ratchet::master {
namespace {

struct Share {
  ServerName name;
  std::size_t regions = 0;
  std::map<std::string, std::vector<std::string>> movable;  // by table; moved from the back
  std::map<std::string, std::size_t> of_table;              // all regions by table
};

// Returns the table with the largest surplus of `from` over `to` among tables with a movable region; the first of
// equals.
const std::string* TableToMove(const Share& from, const Share& to) {
  const std::string* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const auto& [table, regions] : from.movable) {
    if (regions.empty()) continue;
    const auto there = to.of_table.find(table);
    const auto beyond = static_cast<std::ptrdiff_t>(from.of_table.at(table)) -
                        static_cast<std::ptrdiff_t>(there == to.of_table.end() ? 0 : there->second);
    if (best == nullptr || beyond > most) best = &table, most = beyond;
  }
  return best;
}

}  // namespace

std::vector<BalanceMove> PlanBalance(const std::vector<ServerName>& servers, std::vector<BalancedRegion> regions) {
  std::map<ServerName, Share> shares;
  for (const ServerName& server : servers) shares[server].name = server;
  std::sort(regions.begin(), regions.end(), [](const auto& a, const auto& b) { return a.encoded > b.encoded; });
  for (BalancedRegion& region : regions) {
    const auto share = shares.find(region.server);
    if (share == shares.end()) continue;
    ++share->second.regions;
    ++share->second.of_table[region.table];
    if (region.movable) share->second.movable[region.table].push_back(std::move(region.encoded));
  }

  using Place = std::pair<std::size_t, const ServerName*>;
  const auto by_load = [](const Place& a, const Place& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  };
  std::set<Place, decltype(by_load)> givers(by_load);  // only servers with movable regions
  std::set<Place, decltype(by_load)> eligible(by_load);
  for (const auto& [name, share] : shares) {
    givers.emplace(share.regions, &name);
    eligible.emplace(share.regions, &name);
  }
  const auto set_regions = [&](Share& share, const ServerName* key, std::size_t now) {
    if (givers.erase({share.regions, key}) > 0) givers.emplace(now, key);
    eligible.erase({share.regions, key});
    eligible.emplace(now, key);
    share.regions = now;
  };

  std::vector<BalanceMove> moves;
  while (!givers.empty()) {
    const ServerName* from_key = givers.rbegin()->second;
    const ServerName* to_key = eligible.begin()->second;
    Share& from = shares.at(*from_key);
    Share& to = shares.at(*to_key);
    if (from.regions <= to.regions + 1) break;
    const std::string* table = TableToMove(from, to);
    if (table == nullptr) {
      givers.erase({from.regions, from_key});
      continue;
    }
    std::vector<std::string>& own = from.movable[*table];
    moves.push_back({std::move(own.back()), *table, from.name, to.name});
    own.pop_back();
    // The region is not moved again: `to` counts it and cannot give it.
    --from.of_table[*table];
    ++to.of_table[*table];
    set_regions(from, from_key, from.regions - 1);
    set_regions(to, to_key, to.regions + 1);
  }
  return moves;
}

bool IsUneven(const std::vector<ServerName>& servers, const std::vector<BalancedRegion>& regions, double slop) {
  std::map<ServerName, std::size_t> counts;
  for (const ServerName& server : servers) counts[server] = 0;
  if (counts.size() < 2) return false;
  std::size_t all = 0;
  for (const BalancedRegion& region : regions) {
    const auto count = counts.find(region.server);
    if (count != counts.end()) ++count->second, ++all;
  }
  const double average = static_cast<double>(all) / static_cast<double>(counts.size());
  const double most = std::ceil(average * (1 + slop));
  const double fewest = std::floor(average * (1 - slop));
  return std::any_of(counts.begin(), counts.end(), [&](const auto& each) {
    const auto count = static_cast<double>(each.second);
    return count > most || count < fewest;
  });
}

std::vector<BalanceMove> FirstMoves(const std::vector<BalanceMove>& plan,
                                    const std::map<std::string, std::size_t>& regions_of_table,
                                    const MoveLimits& limits) {
  std::vector<BalanceMove> first;
  std::map<std::string, std::size_t> begun;
  for (const BalanceMove& move : plan) {
    if (first.size() >= static_cast<std::size_t>(limits.at_once.Get())) break;
    const auto regions = regions_of_table.find(move.table);
    const double share =
        regions == regions_of_table.end() ? 0 : limits.table_share.Get() * static_cast<double>(regions->second);
    if (static_cast<double>(begun[move.table]) >= std::max(1.0, std::floor(share))) continue;
    ++begun[move.table];
    first.push_back(move);
  }
  return first;
}

}  // namespace ratchet::master
