// The catalog janitor: finds regions that were split or merged and are no longer needed, and has them removed
// (GCRegion, GCMultipleMergedRegions). It waits until each successor has been open once, so that an operator finds the
// files of both until then; no region depends on this wait.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/table_name.h"
#include "master/cluster/region_directory.h"
#include "master/repair/sweep.h"

namespace ratchet::master {

struct RemainsSnapshot {
  std::vector<RegionNode> remains;                         // some regions that were split or merged, or made by a merge
  std::map<TableName, std::vector<RegionNode>> of_tables;  // all regions of the tables of split regions
};

// Looks at the next `most` regions after `*position`, and advances `*position`. Call only after hbase:meta is loaded.
[[nodiscard]] RemainsSnapshot TakeRemains(const MasterEnv& env, std::string* position, std::size_t most);
// Returns the cleanup procedure that each region needs, under a key that stays the same until the region is removed.
// Pure.
[[nodiscard]] std::vector<Repair> FindGarbage(const RemainsSnapshot& snapshot);

}  // namespace ratchet::master
