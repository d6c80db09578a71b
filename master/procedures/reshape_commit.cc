// The commit of a split, merge or truncation in hbase:meta, and how memory shows it.
#include "master/procedures/reshape.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/env/meta_table.h"
#include "master/state/region_directory.h"

namespace ratchet::master {
namespace {

// S103. Each region once, in the order in which it is met.
void TakeOver(const std::vector<RegionInfo>& from, std::vector<RegionInfo>& into) {
  if (RATCHET_MUTANT("master.forget_merged_parents")) return;
  for (const RegionInfo& region : from) {
    const auto same = [&](const RegionInfo& other) { return other.encoded_name() == region.encoded_name(); };
    if (std::none_of(into.begin(), into.end(), same)) into.push_back(region);
  }
}

}  // namespace

MetaCommit ReplaceParents(const std::vector<RegionNode>& parents, RegionRow child) {
  MetaCommit commit;
  for (const RegionNode& parent : parents) TakeOver(parent.merged_from, child.merged_from);
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
    row.state = RegionState::kOffline;  // wanted open, whatever becomes of this procedure
    row.transition = kBuiltTransition;
    row.born = data.built();
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

// A write of a procedure that an operator has ended was not heard of before. The regions' locks keep all others away
// from these rows, so the commit goes on above its number.
Status TakeRows(MasterEnv& env, const pb::ReshapeData& data, const MetaContents& contents) {
  std::map<std::string, std::uint64_t> rows;
  for (const RegionRow& row : contents.regions) rows[row.region.encoded_name()] = row.transition;
  for (const pb::RegionView& view : data.parents()) {
    const std::string encoded = EncodedOf(view);
    const auto row = rows.find(encoded);
    if (row == rows.end()) {
      return Error(Code::kUnavailable, fmt::format("region {} has no row in hbase:meta any more", encoded));
    }
    env.regions.Take(encoded, row->second);
    (void)env.regions.Update(encoded, [&](RegionNode& node) { node.transition = row->second; });
  }
  return Error(Code::kUnavailable, "rows of the regions in hbase:meta were not as this master knew them");
}

}  // namespace

std::optional<StepOutcome> CommitReshape(StepContext& ctx, const pb::ReshapeData& data, const MakeCommit& make) {
  if (auto wait = RequireMetaLoaded(ctx)) return wait;
  MasterEnv& env = EnvOf(ctx);
  const auto outcome = ctx.Once<Result<CommitOutcome>>("commit", [&](std::function<void(Result<CommitOutcome>)> done) {
    std::vector<RegionNode> parents;
    for (const pb::RegionView& view : data.parents()) {
      const auto node = env.regions.Get(EncodedOf(view));
      parents.push_back(node ? *node : NodeOf(view, ctx.pid()));
    }
    env.meta.Commit(make(parents), std::move(done));
  });
  if (!outcome) return ctx.AwaitOnce();
  const bool known = outcome->ok() || RATCHET_MUTANT("master.assume_commit");
  if (!known) return Retry{outcome->error().Annotate("writing hbase:meta"), std::nullopt};
  if (!outcome->ok() || **outcome == CommitOutcome::kApplied) return std::nullopt;
  const auto read = ctx.Once<Result<MetaContents>>(
      "rows", [&](std::function<void(Result<MetaContents>)> done) { env.meta.Scan(std::move(done)); });
  if (!read) return ctx.AwaitOnce();
  if (!read->ok()) return Retry{read->error().Annotate("reading hbase:meta"), std::nullopt};
  return Retry{TakeRows(env, data, **read).error(), std::nullopt};
}

void ShowChildren(MasterEnv& env, const pb::ReshapeData& data) {
  for (RegionRow& row : ChildRows(data)) {
    RegionNode node = NodeOfChild(row.region, row.state, ProcId());
    node.transition = row.transition;
    node.born = row.born;
    env.regions.Restore(std::move(node));
  }
}

void ShowReplaced(MasterEnv& env, const pb::ReshapeData& data, std::vector<RegionInfo> merged_from) {
  for (const RegionInfo& parent : ParentsOf(data)) {
    if (const auto node = env.regions.Get(parent.encoded_name())) TakeOver(node->merged_from, merged_from);
  }
  // A master that has loaded the committed row knows what it names, and no parent any more.
  const std::string child = ChildrenOf(data).front().encoded_name();
  if (const auto node = env.regions.Get(child)) TakeOver(node->merged_from, merged_from);
  for (const RegionInfo& parent : ParentsOf(data)) env.regions.Remove(parent.encoded_name());
  ShowChildren(env, data);
  (void)env.regions.Update(child, [&](RegionNode& node) { node.merged_from = std::move(merged_from); });
}

}  // namespace ratchet::master
