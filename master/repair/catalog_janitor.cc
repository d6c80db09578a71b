#include "master/repair/catalog_janitor.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/reshape/gc_region.h"

namespace ratchet::master {
namespace {

bool HasBeenOpen(const RegionNode& node) { return node.open_sequence > 0; }

// Returns true if every region that now has rows of the parent was open once.
bool IsReplaced(const MasterEnv& env, const RegionNode& parent) {
  bool any = false;
  for (const RegionNode& node : env.regions.OfTable(parent.info.table)) {
    if (!HasItsRows(node.state) || !Overlap(RangeOf(node.info), RangeOf(parent.info))) continue;
    if (!HasBeenOpen(node)) return false;
    any = true;
  }
  return any;
}

bool IsGarbage(const RegionNode& node) {
  return node.state == RegionState::kSplit || (!node.merged_from.empty() && HasBeenOpen(node));
}

}  // namespace

std::vector<std::pair<std::string, procedure::ProcedurePtr>> FindGarbage(const MasterEnv& env, std::string* position,
                                                                         std::size_t most) {
  std::vector<std::pair<std::string, procedure::ProcedurePtr>> found;
  for (const RegionNode& node : env.regions.Remains(position, most)) {
    if (node.owner.valid() || !IsGarbage(node)) continue;
    // S103 (merged parents are passed on): if the parent is itself the result of a merge, its row also names the merged
    // regions, and must stay.
    if (node.state == RegionState::kSplit &&
        (node.merged_from.empty() || RATCHET_MUTANT("master.forget_merged_parents"))) {
      if (IsReplaced(env, node)) found.emplace_back("gc " + node.encoded, GCRegion::Make(node.info));
    } else {
      found.emplace_back("gc " + node.encoded, GCMultipleMergedRegions::Make(node.info, node.merged_from));
    }
  }
  return found;
}

}  // namespace ratchet::master
