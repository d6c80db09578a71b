// Which regions a request lists, and which part of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/ratchet.pb.h"
#include "master/service/master_gate.h"
#include "master/state/region_directory.h"

namespace ratchet::master {

struct ListedRegions {
  std::vector<RegionNode> nodes;
  std::optional<std::uint64_t> total;  // where a part was asked for
};

// A part is by table and start key; it copies the regions of the tables that it shows, not of those before it.
[[nodiscard]] Result<ListedRegions> ChooseRegions(const ActiveParts& parts,
                                                  const ::ratchet::pb::ListRegionsRequest& request);

}  // namespace ratchet::master
