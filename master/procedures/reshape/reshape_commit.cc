// Commits a split, merge or truncation in hbase:meta, and updates memory.
#include "master/procedures/reshape/reshape.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/region_directory.h"
#include "master/env/meta_table.h"

namespace ratchet::master {
namespace {

// S103 (merged parents are passed on): adds each region once, in its first position.
void AppendMissing(const std::vector<RegionInfo>& from, std::vector<RegionInfo>& into) {
  for (const RegionInfo& region : from) {
    const auto same = [&](const RegionInfo& other) { return other.encoded_name() == region.encoded_name(); };
    const bool missing = std::none_of(into.begin(), into.end(), same);
    if (missing && !RATCHET_MUTANT("master.forget_merged_parents")) into.push_back(region);
  }
}

}  // namespace

MetaCommit ReplaceParents(const std::vector<RegionNode>& parents, RegionRow child) {
  MetaCommit commit;
  for (const RegionNode& parent : parents) AppendMissing(parent.merged_from, child.merged_from);
  for (const RegionNode& parent : parents) {
    RegionRow before;
    before.region = parent.info;
    before.transition = parent.transition;
    RegionRow gone = before;
    gone.transition += 1;
    commit.expected.push_back({EditRegion(MetaEdit::Kind::kDeleteRegion, std::move(before)), false});
    commit.edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, std::move(gone)));
  }
  commit.expected.push_back({EditRegion(MetaEdit::Kind::kCreateRegion, child), true});
  commit.edits.push_back(EditRegion(MetaEdit::Kind::kCreateRegion, std::move(child)));
  return commit;
}

std::vector<RegionRow> ChildRows(const pb::ReshapeData& data) {
  std::vector<RegionRow> rows;
  for (const RegionInfo& child : ChildrenOf(data)) {
    RegionRow row;
    row.region = child;
    row.state = RegionState::kOffline;  // the child is opened even if this procedure ends here
    row.transition = kBuiltTransition;
    row.build_number = data.built();
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

// Adopts transition numbers that a late write of an ended procedure has raised. The regions' locks exclude other
// writers of these rows, so the commit uses numbers above.
Status AdoptTransitions(MasterEnv& env, const pb::ReshapeData& data, const MetaContents& contents) {
  std::map<std::string, std::uint64_t> rows;
  for (const RegionRow& row : contents.regions) rows[row.region.encoded_name()] = row.transition;
  for (const pb::RegionView& view : data.parents()) {
    const std::string encoded = EncodedNameOfParent(view);
    const auto row = rows.find(encoded);
    if (row == rows.end()) {
      return Error(Code::kUnavailable, fmt::format("region {} no longer has a row in hbase:meta", encoded));
    }
    env.regions.Reserve(encoded, row->second);
    (void)env.regions.Update(encoded, [&](RegionNode& node) { node.transition = row->second; });
  }
  return Error(Code::kUnavailable, "rows of the regions in hbase:meta differ from this master's memory");
}

}  // namespace

std::optional<StepOutcome> CommitReshape(StepContext& ctx, const pb::ReshapeData& data, const MakeCommit& make) {
  MasterEnv& env = EnvOf(ctx);
  const auto outcome =
      ctx.AsyncCall<Result<CommitOutcome>>("commit", [&](std::function<void(Result<CommitOutcome>)> done) {
        std::vector<RegionNode> parents;
        for (const pb::RegionView& view : data.parents()) {
          const auto node = env.regions.Get(EncodedNameOfParent(view));
          parents.push_back(node ? *node : NodeOfParent(view, ctx.pid()));
        }
        env.meta.Commit(make(parents), std::move(done));
      });
  if (!outcome) return ctx.AwaitAsync();
  const bool known = outcome->ok() || RATCHET_MUTANT("master.assume_commit");
  if (!known) return Retry{outcome->error().Annotate("writing hbase:meta"), std::nullopt};
  if (!outcome->ok() || **outcome == CommitOutcome::kApplied) return std::nullopt;
  const auto read = ctx.AsyncCall<Result<MetaContents>>(
      "rows", [&](std::function<void(Result<MetaContents>)> done) { env.meta.Scan(std::move(done)); });
  if (!read) return ctx.AwaitAsync();
  if (!read->ok()) return Retry{read->error().Annotate("reading hbase:meta"), std::nullopt};
  return Retry{AdoptTransitions(env, data, **read).error(), std::nullopt};
}

void ShowChildren(MasterEnv& env, const pb::ReshapeData& data) {
  for (RegionRow& row : ChildRows(data)) {
    RegionNode node = NodeOfChild(row.region, row.state, ProcId());
    node.transition = row.transition;
    node.build_number = row.build_number;
    env.regions.Restore(std::move(node));
  }
}

void ShowReplaced(MasterEnv& env, const pb::ReshapeData& data, std::vector<RegionInfo> merged_from) {
  for (const pb::RegionView& parent : data.parents()) {
    if (const auto node = env.regions.Get(EncodedNameOfParent(parent))) AppendMissing(node->merged_from, merged_from);
  }
  // A master that has loaded the committed row already knows the merged regions, and has no parent in memory.
  const std::string child = ChildrenOf(data).front().encoded_name();
  if (const auto node = env.regions.Get(child)) AppendMissing(node->merged_from, merged_from);
  for (const pb::RegionView& parent : data.parents()) env.regions.Remove(EncodedNameOfParent(parent));
  ShowChildren(env, data);
  (void)env.regions.Update(child, [&](RegionNode& node) { node.merged_from = std::move(merged_from); });
}

}  // namespace ratchet::master
