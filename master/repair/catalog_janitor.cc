#include "master/repair/catalog_janitor.h"

#include "common/base/mutant.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/reshape/gc_region.h"

namespace ratchet::master {
namespace {

bool HasBeenOpen(const RegionNode& node) { return node.open_sequence > 0; }

bool IsGarbage(const RegionNode& node) {
  return node.state == RegionState::kSplit || (!node.merged_from.empty() && HasBeenOpen(node));
}

// Returns true if every region that now has rows of the parent was open once.
bool IsReplaced(const RegionNode& parent, const std::vector<RegionNode>& of_table) {
  bool any = false;
  for (const RegionNode& node : of_table) {
    if (!HasItsRows(node.state) || !Overlap(RangeOf(node.info), RangeOf(parent.info))) continue;
    if (!HasBeenOpen(node)) return false;
    any = true;
  }
  return any;
}

}  // namespace

RemainsSnapshot TakeRemains(const MasterEnv& env, std::string* position, std::size_t most) {
  RemainsSnapshot snapshot;
  snapshot.remains = env.regions.Remains(position, most);
  for (const RegionNode& node : snapshot.remains) {
    const TableName& table = node.info.table;
    if (node.state != RegionState::kSplit || node.owner.valid() || snapshot.of_tables.contains(table)) continue;
    snapshot.of_tables[table] = env.regions.OfTable(table);
  }
  return snapshot;
}

std::vector<Repair> FindGarbage(const RemainsSnapshot& snapshot) {
  std::vector<Repair> found;
  for (const RegionNode& node : snapshot.remains) {
    if (node.owner.valid() || !IsGarbage(node)) continue;
    // S103 (merged parents are passed on): if the parent is itself the result of a merge, its row also names the merged
    // regions, and must stay.
    const bool is_merged = !node.merged_from.empty() && !RATCHET_MUTANT("master.forget_merged_parents");
    if (node.state != RegionState::kSplit || is_merged) {
      found.emplace_back(
          SubmitProcedure{"gc " + node.encoded, GCMultipleMergedRegions::Make(node.info, node.merged_from), {}});
    } else if (IsReplaced(node, snapshot.of_tables.at(node.info.table))) {
      found.emplace_back(SubmitProcedure{"gc " + node.encoded, GCRegion::Make(node.info), {}});
    }
  }
  return found;
}

}  // namespace ratchet::master
