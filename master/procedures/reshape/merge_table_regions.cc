#include "master/procedures/reshape/merge_table_regions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/printable.h"
#include "master/cluster/errors.h"
#include "master/cluster/reshape_switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/meta_table.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kMostParents = 1000;  // limit of one commit

void SortByStart(std::vector<RegionInfo>& regions) {
  std::sort(regions.begin(), regions.end(),
            [](const RegionInfo& a, const RegionInfo& b) { return a.start_key < b.start_key; });
}

}  // namespace

ProcedurePtr MergeTableRegions::Make(std::vector<RegionInfo> parents) {
  SortByStart(parents);
  pb::ReshapeData data;
  for (const RegionInfo& parent : parents) *data.add_parents()->mutable_region() = ToData(parent);
  return std::make_unique<MergeTableRegions>(std::move(data));
}

Status MergeTableRegions::CheckNeighbours(std::vector<RegionInfo> parents) {
  if (parents.size() < 2) return IllegalRequest("a merge needs two regions or more");
  if (parents.size() > kMostParents)
    return IllegalRequest(fmt::format("a merge takes at most {} regions, not {}", kMostParents, parents.size()));
  SortByStart(parents);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i].IsMeta()) return IllegalRequest("hbase:meta cannot be merged");
    if (parents[i].table != parents[0].table) return IllegalRequest("regions of different tables cannot be merged");
    if (i == 0) continue;
    const RegionInfo& left = parents[i - 1];
    if (left.encoded_name() == parents[i].encoded_name())
      return IllegalRequest(fmt::format("region {} is named twice", left.encoded_name()));
    if (left.end_key != parents[i].start_key || left.end_key.empty()) {
      return IllegalRequest(fmt::format(
          "regions {} and {} are not adjacent: the first ends at '{}', the second begins at '{}'", left.encoded_name(),
          parents[i].encoded_name(), PrintableText(left.end_key, "\\'"), PrintableText(parents[i].start_key, "\\'")));
    }
  }
  return Ok();
}

RegionInfo MergeTableRegions::Merged() const {
  const std::vector<RegionInfo> parents = ParentsOf(data_);
  RegionInfo merged = parents.front();
  merged.end_key = parents.back().end_key;
  merged.region_id = RegionIdFor(pid());
  return merged;
}

procedure::Description MergeTableRegions::Describe() const {
  const std::vector<RegionInfo> parents = ParentsOf(data_);
  std::string names = "[" + parents[0].encoded_name();
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 1; i < std::min(parents.size(), kShown); ++i) names += ", " + parents[i].encoded_name();
  if (parents.size() > kShown) names += fmt::format(" and {} more", parents.size() - kShown);
  procedure::Description about;
  about.Add("table", parents[0].table.ToString()).Add("regions", names + "]");
  if (data_.children_size() == 1) about.Add("merged", FromData(data_.children(0)).encoded_name());
  if (!data_.why().empty()) about.Section().Note("given up: " + PrintableText(data_.why()));
  return about;
}

std::string MergeTableRegions::Subject() const { return fmt::format("the merge of {} regions", data_.parents_size()); }
Status MergeTableRegions::Allows(const MasterEnv& env, const TableNode& table) const {
  return AllowsMerges(env.switches, table);
}

MetaCommit MergeTableRegions::CommitOf(const std::vector<RegionNode>& parents) const {
  RegionRow merged = ChildRows(data_).front();
  merged.merged_from = ParentsOf(data_);
  return ReplaceParents(parents, std::move(merged));
}

StepOutcome MergeTableRegions::UpdateMeta(StepContext& ctx) {
  auto outcome =
      CommitReshape(ctx, data_, [this](const std::vector<RegionNode>& parents) { return CommitOf(parents); });
  RATCHET_STEP(outcome);
  ShowReplaced(EnvOf(ctx), data_, ParentsOf(data_));
  RATCHET_LOG(kInfo, "pid={} merged {} regions into {}", ctx.pid(), data_.parents_size(), Merged().encoded_name());
  data_.set_committed(true);
  return GoTo<&MergeTableRegions::OpenChildren>();
}

}  // namespace ratchet::master
