// Writes of a transition to the region's in-memory node and to its row in hbase:meta.
#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/region_plan.h"

namespace ratchet::master {

ProcedurePtr TransitRegionState::ReopenBelow(const RegionInfo& region, std::uint64_t number) {
  pb::TransitRegionStateData data;
  data.set_type(pb::REOPEN);
  *data.mutable_region() = ToData(region);
  data.set_retain(true);
  data.set_reopen_below(number);
  return std::make_unique<TransitRegionState>(std::move(data));
}

ProcedurePtr TransitRegionState::UnassignForReshape(const RegionInfo& region, bool reopen) {
  pb::TransitRegionStateData data;
  data.set_type(pb::UNASSIGN);
  *data.mutable_region() = ToData(region);
  data.set_ends_when_lost(true);
  if (reopen) data.set_reopen_when_lost(true);
  return std::make_unique<TransitRegionState>(std::move(data));
}

std::string TransitRegionState::ReshapeResult(pb::OrderOutcome outcome) const {
  pb::OrderResult result;
  result.set_outcome(outcome);
  result.set_transition(data_.transition());
  result.set_encoded_region(Encoded());
  if (outcome == pb::SERVER_CRASHED && RegionStateOf(data_) == RegionState::kOpen) {
    pb::RegionView& view = *result.mutable_reopened();
    *view.mutable_region() = data_.region();
    view.set_encoded_name(result.encoded_region());
    view.set_state(data_.region_state());
    view.set_location(data_.location());
    view.set_last_host(data_.location());
    view.set_open_sequence(data_.open_sequence());
    view.set_transition(data_.transition());
    view.set_open_number(data_.open_number());
    view.set_schema_number(data_.schema_number());
    view.set_build_number(data_.build_number());
  }
  return result.SerializeAsString();
}

// A child of a split or merge borrows the region from its parent, and returns it.
bool TransitRegionState::Own(MasterEnv& env) {
  const bool lent = data_.ends_when_lost() || data_.takes_over();
  return env.regions.Own(Encoded(), pid(), lent ? parent_pid() : ProcId());
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
  node.open_number = ProcId(data_.open_number());
  node.schema_number = data_.schema_number();
  node.build_number = data_.build_number();
  node.issued = IssuedIn(node.state);
  node.served = data_.served();
  node.flushed = data_.flushed();
  node.failed_opens = data_.failed_opens();
  node.owner = pid();
  return node;
}

void TransitRegionState::OnRecovered(const procedure::EnvRef& env) {
  if (data_.begun()) env.As<MasterEnv>().regions.Restore(NodeFromData());
}

// The split or merge restores the region as it was before this child closed it. The region may be open on another
// server since, and if that server dies, its crash procedure must find the region.
void TransitRegionState::OnRecoveredUnread(const procedure::EnvRef& env) {
  if (!data_.begun() || !data_.ends_when_lost() || RATCHET_MUTANT("master.restore_parents_only")) return;
  RegionNode node = NodeFromData();
  node.owner = parent_pid();
  env.As<MasterEnv>().regions.Restore(std::move(node));
}

// S118 (older copy stays closed): returns the value of `issued` for a row or for memory in this state. It is 0 while an
// open order may be outstanding, and while a split or merge has the region and numbers its builds, because then only
// the procedure knows the newest number.
std::uint64_t TransitRegionState::IssuedIn(RegionState state) const {
  const bool known = state == RegionState::kOpen || state == RegionState::kClosing || state == RegionState::kClosed;
  return known && !data_.ends_when_lost() ? data_.issued() : 0;
}

// Records the number of an order that has ended. The order's procedure shows it, unless an operator reran this
// procedure.
void TransitRegionState::NoteIssued(StepContext& ctx) {
  if (data_.issued_before() != 0 && ctx.children().size() == 1)
    data_.set_issued(std::max(data_.issued_before(), ctx.children().front().pid.value()));
  data_.clear_issued_before();
}

// S12 (system record with its lock): writes meta's location and its known numbers.
void TransitRegionState::PutMetaLocation(StepContext& ctx) const {
  if (!IsMetaRegion()) return;
  pb::MetaLocation location;
  location.set_server(data_.location());
  location.set_transition(data_.transition());
  if (data_.issued() != 0) location.set_issued(data_.issued());
  if (data_.served() != 0) location.set_served(data_.served());
  if (data_.flushed() != 0) location.set_flushed(data_.flushed());
  ctx.PutSystemRecord(std::string(kMetaLocationRecord), location.SerializeAsString());
}

// Writes the row with the next transition number. The content is a pure function of durable data, so that each
// repetition writes exactly the same.
std::optional<StepOutcome> TransitRegionState::WriteRow(StepContext& ctx, std::string_view key, RegionState state) {
  if (IsMetaRegion()) return std::nullopt;
  RegionRow row;
  row.region = FromData(data_.region());
  row.state = state;
  row.location = MaybeServerFromData(data_.location());
  row.target = row.location;
  row.open_sequence = data_.open_sequence();
  row.transition = data_.transition() + 1;
  row.schema_number = data_.schema_number();
  row.issued = IssuedIn(state);
  row.served = data_.served();
  row.flushed = data_.flushed();
  EnvOf(ctx).regions.Reserve(Encoded(), row.transition);
  bool absent = false;
  auto outcome = WriteMeta(ctx, key, {EditRegion(MetaEdit::Kind::kUpdateRegion, std::move(row))}, &absent);
  if (absent) return WithoutRow(ctx, state);
  return outcome;
}

// The state is OFFLINE if the region is closed for a split or merge: with CLOSED it would stay closed if an operator
// ended them here.
StepOutcome TransitRegionState::FinishClosed(StepContext& ctx) {
  const RegionState closed = data_.ends_when_lost() ? RegionState::kOffline : RegionState::kClosed;
  RATCHET_STEP(WriteRow(ctx, "closed", closed));
  data_.set_region_state(static_cast<std::uint32_t>(closed));
  data_.set_transition(data_.transition() + 1);
  data_.clear_location();
  Show(EnvOf(ctx));
  Disown(EnvOf(ctx));
  return Done{data_.ends_when_lost() ? ReshapeResult(pb::CLOSED) : ClosedBecause(data_)};
}

// S93 (transition without a row ends): a server that may have the region must close it first; after that the procedure
// ends, because other procedures need the locks.
std::optional<StepOutcome> TransitRegionState::WithoutRow(StepContext& ctx, RegionState state) {
  if (state == RegionState::kClosing) return std::nullopt;  // the close order follows
  if (state == RegionState::kOpen) return GoTo<&TransitRegionState::Close>();
  RATCHET_LOG(kWarn, "pid={} ends: region {} no longer has a row in hbase:meta", ctx.pid(), Encoded());
  EnvOf(ctx).regions.Disown(Encoded(), pid());
  EnvOf(ctx).regions.Remove(Encoded());
  return Done{"nothing to do: the region no longer has a row in hbase:meta"};
}

// S84 (give up a region by name): ends if a procedure that gives the region up waits for it. That procedure may end
// without giving the region up, also under another master, and then the row must show that the region needs a server.
// CLOSED would mean that it stays closed, and memory may show OPENING while the row is CLOSED, because no order was
// sent.
std::optional<StepOutcome> TransitRegionState::LeaveToGiveUp(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.regions.Get(Encoded());
  const bool started = node && node->reserved > data_.transition();  // an earlier run may have started a write
  const ProcId by = GivenUpBy(env, data_);
  if (!by.valid()) {
    // This run does not repeat that write: later writes must be above it (S65: transition number reserved first).
    if (started) data_.set_transition(node->reserved);
    return std::nullopt;
  }
  const RegionState state = RegionStateOf(data_);
  const bool unshown = state == RegionState::kClosed || state == RegionState::kOpening;
  const bool opens = data_.type() != pb::UNASSIGN && (started || !TableIsGoing(env));
  if (unshown && opens && !RATCHET_MUTANT("repair.leave_it_closed")) {
    const RegionState left = state == RegionState::kClosed ? RegionState::kOffline : RegionState::kFailedOpen;
    RATCHET_STEP(WriteRow(ctx, "given-up", left));
    data_.set_region_state(static_cast<std::uint32_t>(left));
    data_.set_transition(data_.transition() + 1);
    Show(env);
  }
  env.regions.Disown(Encoded(), pid());
  return Done{fmt::format("not opened: pid={} gives the region up", by)};
}

// S93: ends because hbase:meta has no row of the region's table. No server has the region, and MetaComparison removes
// its row.
StepOutcome TransitRegionState::EndWithoutTable(StepContext& ctx) {
  const std::string table = FromData(data_.region()).table.ToString();
  RATCHET_LOG(kWarn, "pid={} ends: table {} of region {} no longer exists", ctx.pid(), table, Encoded());
  EnvOf(ctx).regions.Disown(Encoded(), pid());
  return Done{fmt::format("nothing to do: table {} no longer exists", table)};
}

void TransitRegionState::Show(MasterEnv& env) const { env.regions.Show(NodeFromData()); }

// An operator may rerun this procedure when its record is ahead of memory, so each state first writes the record of the
// previous state to memory.
void TransitRegionState::ShowIfBehind(MasterEnv& env) const {
  const auto shown = env.regions.Get(Encoded());
  if (shown && shown->state != NodeFromData().state) Show(env);
}

}  // namespace ratchet::master
