#include "master/process/system_places.h"

#include <optional>
#include <utility>

#include "master/cluster/region_directory.h"

namespace ratchet::master {

std::vector<RpcSystemTable::Place> PlacesOf(const RegionDirectory& regions, const TableName& table) {
  std::vector<RpcSystemTable::Place> places;
  for (RegionNode& node : regions.OfTable(table)) {
    if (IsSplitOrMerged(node.state)) continue;
    const bool open = node.state == RegionState::kOpen;
    places.push_back({std::move(node.info), open ? std::move(node.location) : std::nullopt});
  }
  return places;
}

}  // namespace ratchet::master
