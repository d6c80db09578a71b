#include "chaos/workloads/cluster_places.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/region_state.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {

Result<std::set<ServerName>> OnlineServers(client::Admin& admin) {
  pb::ListServersRequest request;
  request.set_include_dead(false);
  RATCHET_ASSIGN(const auto answer, admin.Call(methods::kListServers, request));
  std::set<ServerName> servers;
  for (const auto& row : answer.server()) {
    RATCHET_ASSIGN(ServerName server, FromProto(row.server()));
    if (row.state() == "ONLINE") servers.insert(std::move(server));
  }
  return servers;
}

Result<std::map<ServerName, std::vector<std::string>>> RegionsByServer(client::Admin& admin) {
  RATCHET_ASSIGN(const auto answer, admin.Call(methods::kListRegions, pb::ListRegionsRequest()));
  std::map<ServerName, std::vector<std::string>> regions;
  for (const auto& row : answer.region()) {
    const auto state = ParseRegionState(row.state());
    if (!row.has_server() || !state || !NeedsServer(*state)) continue;
    RATCHET_ASSIGN(const ServerName server, FromProto(row.server()));
    regions[server].push_back(row.encoded_name());
  }
  return regions;
}

Finding JudgeShares(const std::map<std::string, std::size_t>& regions_of_server) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  std::string text;
  for (const auto& [server, regions] : regions_of_server) {
    least = std::min(least, regions);
    most = std::max(most, regions);
    text += fmt::format("{}{} has {}", text.empty() ? "" : ", ", server, Counted(regions, "region"));
  }
  if (regions_of_server.empty()) return {false, "no server can have regions"};
  return {most - least <= 1, text};
}

}  // namespace ratchet::chaos
