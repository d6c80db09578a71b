#include "master/procedures/reshape/split_table_region.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/printable.h"
#include "common/model/proto/admin.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/reshape_switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/meta_table.h"
#include "master/procedures/core/remote_order.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

ProcedurePtr SplitTableRegion::Make(const RegionInfo& parent, const std::string& split_key) {
  pb::ReshapeData data;
  *data.add_parents()->mutable_region() = ToData(parent);
  if (!split_key.empty()) data.set_split_key(split_key);
  return std::make_unique<SplitTableRegion>(std::move(data));
}

Status SplitTableRegion::CheckInitial() const {
  if (data_.parents_size() != 1) return IllegalRequest("a split must have exactly one parent");
  const RegionInfo parent = FirstParent();
  const std::string& key = data_.split_key();
  if (parent.IsMeta()) return IllegalRequest("hbase:meta cannot be split");
  if (!data_.has_split_key() || (parent.Contains(key) && key != parent.start_key)) return Ok();
  return IllegalRequest(fmt::format(
      "split key '{}' is not inside region {}: it must be above its start key '{}'{}", PrintableText(key, "\\'"),
      parent.encoded_name(), PrintableText(parent.start_key, "\\'"),
      parent.end_key.empty() ? std::string()
                             : fmt::format(" and below its end key '{}'", PrintableText(parent.end_key, "\\'"))));
}

std::vector<RegionInfo> SplitTableRegion::NewRegions() const {
  const RegionInfo parent = FirstParent();
  std::vector<RegionInfo> daughters(2, parent);
  for (RegionInfo& daughter : daughters) daughter.region_id = RegionIdFor(pid());
  daughters[0].end_key = data_.split_key();
  daughters[1].start_key = data_.split_key();
  return daughters;
}

procedure::Description SplitTableRegion::Describe() const {
  const RegionInfo parent = FirstParent();
  procedure::Description about;
  about.Add("table", parent.table.ToString()).Add("parent", parent.encoded_name());
  if (data_.children_size() == 2) {
    about.Add("daughterA", FromData(data_.children(0)).encoded_name());
    about.Add("daughterB", FromData(data_.children(1)).encoded_name());
  }
  if (!data_.why().empty()) about.Section().Note("given up: " + PrintableText(data_.why(), ""));
  return about;
}

procedure::LockSet SplitTableRegion::Locks() const {
  return data_.has_split_key() ? ReshapeProcedure::Locks() : procedure::LockSet();
}

// The server flushes the region first, so that its answer considers all data. Runs without locks; the split key is
// durable before the locks are taken.
StepOutcome SplitTableRegion::FindSplitPoint(StepContext& ctx) {
  if (data_.has_split_key()) {
    data_.set_located(true);
    return GoTo<&SplitTableRegion::Prepare>();
  }
  RATCHET_STEP(RequireMetaLoaded(ctx));
  const RegionInfo parent = FirstParent();
  const std::string encoded = parent.encoded_name();
  if (!ctx.children().empty()) {
    const pb::OrderResult result = ResultOfOrder(ctx);
    hbase::pb::FlushRegionResult flushed;
    const bool read = result.outcome() == pb::DONE && flushed.ParseFromString(result.payload());
    const std::string& row = flushed.split_row();
    if (read && parent.Contains(row) && row != parent.start_key) {
      data_.set_split_key(row);
      return Await{std::nullopt, Millis(0)};  // from here on with locks
    }
    const std::string why = result.outcome() == pb::DONE ? "its files have too few rows, or were written by a version "
                                                           "that does not record rows: compact it, or give a split key"
                                                         : result.error_message();
    return Fail{IllegalRequest(fmt::format("no split key was found for region {}: {}", encoded, why))};
  }
  const auto node = EnvOf(ctx).regions.Get(encoded);
  if (!node) return Fail{UnknownRegion(encoded)};
  if (node->state != RegionState::kOpen || !node->location)
    return Fail{IllegalRequest(fmt::format("region {} is {}, not OPEN", encoded, RegionStateText(node->state)))};
  return SpawnThen<&SplitTableRegion::FindSplitPoint>(
      FlushRegion::Make(data_.parents(0).region(), node->location->ToString(), {}));
}

namespace {

NamespaceDirectory::Claim ClaimOf(const TableName& table) { return {table, /*makes_table=*/false, /*regions=*/1}; }

}  // namespace

std::string SplitTableRegion::Subject() const { return "the split of region " + FirstParent().encoded_name(); }
Status SplitTableRegion::Allows(const MasterEnv& env, const TableNode& table) const {
  return AllowsSplits(env.switches, table);
}
Status SplitTableRegion::Reserve(MasterEnv& env) const {
  return env.namespaces.Take(pid(), ClaimOf(FirstParent().table));
}

MetaCommit SplitTableRegion::CommitOf(const RegionNode& parent) const {
  MetaCommit commit;
  RegionRow before;
  before.region = FirstParent();
  before.transition = parent.transition;
  RegionRow after = before;
  after.region.split = after.region.offline = true;  // clients skip rows with these flags
  after.state = RegionState::kSplit;
  after.transition = parent.transition + 1;
  after.daughters = NewRegions();
  commit.expected.push_back({EditRegion(MetaEdit::Kind::kUpdateRegion, std::move(before)), false});
  commit.edits.push_back(EditRegion(MetaEdit::Kind::kUpdateRegion, std::move(after)));
  for (const RegionRow& row : ChildRows(data_)) {
    commit.expected.push_back({EditRegion(MetaEdit::Kind::kCreateRegion, row), true});
    commit.edits.push_back(EditRegion(MetaEdit::Kind::kCreateRegion, row));
  }
  return commit;
}

StepOutcome SplitTableRegion::UpdateMeta(StepContext& ctx) {
  auto outcome =
      CommitReshape(ctx, data_, [this](const std::vector<RegionNode>& parents) { return CommitOf(parents.front()); });
  RATCHET_STEP(outcome);
  MasterEnv& env = EnvOf(ctx);
  const std::string parent = FirstParent().encoded_name();
  (void)env.regions.Update(parent, [](RegionNode& node) {
    if (node.state != RegionState::kSplit) node.transition += 1;
    node.state = RegionState::kSplit;
    node.info.split = node.info.offline = true;
  });
  ShowChildren(env, data_);
  env.namespaces.Release(pid());  // from here on the daughters themselves are counted
  env.regions.Disown(parent, pid());
  RATCHET_LOG(kInfo, "pid={} split region {} at '{}' into {} and {}", ctx.pid(), parent,
              PrintableText(data_.split_key(), "\\'"), NewRegions()[0].encoded_name(), NewRegions()[1].encoded_name());
  data_.set_committed(true);
  return GoTo<&SplitTableRegion::OpenChildren>();
}

void SplitTableRegion::OnRecovered(const procedure::EnvRef& env) {
  ReshapeProcedure::OnRecovered(env);
  if (data_.children_size() > 0 && !data_.committed())
    env.As<MasterEnv>().namespaces.Restore(pid(), ClaimOf(FirstParent().table));
}

}  // namespace ratchet::master
