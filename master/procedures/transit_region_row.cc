// The region's node in memory and its row in hbase:meta, as its transition writes them.
#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/procedures/region_plan.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/region_directory.h"

namespace ratchet::master {

ProcedurePtr TransitRegionState::ReopenBelow(const RegionInfo& region, std::uint64_t number) {
  pb::TransitRegionStateData data;
  data.set_type(pb::REOPEN);
  *data.mutable_region() = ToData(region);
  data.set_retain(true);
  data.set_reopen_below(number);
  return std::make_unique<TransitRegionState>(std::move(data));
}

ProcedurePtr TransitRegionState::UnassignForReshape(const RegionInfo& region) {
  pb::TransitRegionStateData data;
  data.set_type(pb::UNASSIGN);
  *data.mutable_region() = ToData(region);
  data.set_ends_when_lost(true);
  return std::make_unique<TransitRegionState>(std::move(data));
}

std::string TransitRegionState::ReshapeResult(pb::OrderOutcome outcome) const {
  pb::OrderResult result;
  result.set_outcome(outcome);
  result.set_transition(data_.transition());
  result.set_encoded_region(Encoded());
  return result.SerializeAsString();
}

// The part of a split or a merge gets the region from it, and gives it back.
bool TransitRegionState::Own(MasterEnv& env) {
  return env.regions.Own(Encoded(), pid(), data_.ends_when_lost() ? parent_pid() : ProcId());
}

void TransitRegionState::Disown(MasterEnv& env) {
  if (data_.ends_when_lost() && env.regions.Own(Encoded(), parent_pid(), pid())) return;
  env.regions.Disown(Encoded(), pid());
}

RegionNode TransitRegionState::NodeFromData() const {
  RegionNode node;
  node.info = FromData(data_.region());
  node.state = RegionStateOf(data_);
  node.location = MaybeServerFromData(data_.location());
  node.last_host = MaybeServerFromData(data_.last_host());
  node.open_sequence = data_.open_sequence();
  node.transition = data_.transition();
  node.opening = ProcId(data_.open_order());
  node.descriptor = data_.schema_number();
  node.born = data_.born();
  node.failed_opens = data_.failed_opens();
  node.owner = pid();
  return node;
}

void TransitRegionState::OnRecovered(const procedure::EnvRef& env) {
  if (data_.begun()) env.As<MasterEnv>().regions.Restore(NodeFromData());
}

// The row as it is to be, under the next transition number: a pure function of durable data, so that each repetition of
// this write repeats exactly it.
std::optional<StepOutcome> TransitRegionState::WriteRow(StepContext& ctx, std::string_view key, RegionState state) {
  if (IsMetaRegion()) return std::nullopt;
  RegionRow row;
  row.region = FromData(data_.region());
  row.state = state;
  row.location = MaybeServerFromData(data_.location());
  row.target = row.location;
  row.open_sequence = data_.open_sequence();
  row.transition = data_.transition() + 1;
  row.descriptor = data_.schema_number();
  EnvOf(ctx).regions.Take(Encoded(), row.transition);
  bool absent = false;
  bool* const looks = RATCHET_MUTANT("master.wait_for_the_row") ? nullptr : &absent;
  auto outcome = WriteMeta(ctx, key, {EditRegion(MetaEdit::Kind::kUpdateRegion, std::move(row))}, looks);
  if (absent) return WithoutRow(ctx, state);
  return outcome;
}

// S93: a server that may have the region closes it first; then nothing is left to be done, and the locks are needed by
// others.
std::optional<StepOutcome> TransitRegionState::WithoutRow(StepContext& ctx, RegionState state) {
  if (state == RegionState::kClosing) return std::nullopt;  // the order to close it follows
  if (state == RegionState::kOpen) return GoTo(State::kClose);
  RATCHET_LOG(kWarn, "pid={} ends: region {} has no row in hbase:meta any more", ctx.pid(), Encoded());
  EnvOf(ctx).regions.Disown(Encoded(), pid());
  EnvOf(ctx).regions.Remove(Encoded());
  return Done{"nothing to do: the region has no row in hbase:meta any more"};
}

// S93: hbase:meta has no row of its table. No server has the region, and the comparison removes its row.
StepOutcome TransitRegionState::EndWithoutTable(StepContext& ctx) {
  const std::string table = FromData(data_.region()).table.ToString();
  RATCHET_LOG(kWarn, "pid={} ends: table {} of region {} is not there any more", ctx.pid(), table, Encoded());
  EnvOf(ctx).regions.Disown(Encoded(), pid());
  return Done{fmt::format("nothing to do: table {} is not there any more", table)};
}

void TransitRegionState::Show(MasterEnv& env) const {
  const RegionNode shown = NodeFromData();
  env.regions.Update(Encoded(), [&](RegionNode& node) {
    std::vector<RegionInfo> merged_from = std::move(node.merged_from);  // the janitor's
    node = shown;
    node.merged_from = std::move(merged_from);
  });
}

// An operator may have this procedure begin again when its record is ahead of what memory shows: each state shows what
// the one before it has recorded.
void TransitRegionState::ShowIfBehind(MasterEnv& env) const {
  const auto shown = env.regions.Get(Encoded());
  if (shown && shown->state != NodeFromData().state) Show(env);
}

}  // namespace ratchet::master
