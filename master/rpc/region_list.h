// Selects the regions of a list request, or a page of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/ratchet.pb.h"
#include "master/cluster/region_directory.h"
#include "master/rpc/master_gate.h"

namespace ratchet::master {

struct ListedRegions {
  std::vector<RegionNode> nodes;
  std::optional<std::uint64_t> total;  // set if a page was requested
};

// A page is ordered by table and start key. Copies only regions of the tables on the page.
[[nodiscard]] Result<ListedRegions> ChooseRegions(const ActiveParts& parts,
                                                  const ::ratchet::pb::ListRegionsRequest& request);

}  // namespace ratchet::master
