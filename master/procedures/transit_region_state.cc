#include "master/procedures/transit_region_state.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/procedures/close_region.h"
#include "master/procedures/open_region.h"
#include "master/procedures/region_plan.h"
#include "master/procedures/server_order.h"
#include "master/state/master_options.h"
#include "master/state/placement.h"
#include "master/state/region_directory.h"
#include "master/state/schema_reader.h"
#include "master/state/server_directory.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

ProcedurePtr Make(pb::TransitType type, const RegionInfo& region, const TransitRegionState::Options& options) {
  pb::TransitRegionStateData data;
  data.set_type(type);
  *data.mutable_region() = ToData(region);
  if (options.target) data.set_target(options.target->ToString());
  data.set_retain(options.retain);
  data.set_force_new_plan(options.force_new_plan);
  return std::make_unique<TransitRegionState>(std::move(data));
}

void SetState(pb::TransitRegionStateData& data, RegionState state) {
  data.set_region_state(static_cast<std::uint32_t>(state));
}

}  // namespace

ProcedurePtr TransitRegionState::Assign(const RegionInfo& region, const Options& options) {
  return Make(pb::ASSIGN, region, options);
}
ProcedurePtr TransitRegionState::Unassign(const RegionInfo& region) { return Make(pb::UNASSIGN, region, {}); }
ProcedurePtr TransitRegionState::UnassignForTable(const RegionInfo& region) {
  pb::TransitRegionStateData data;
  data.set_type(pb::UNASSIGN);
  *data.mutable_region() = ToData(region);
  data.set_for_table(true);
  return std::make_unique<TransitRegionState>(std::move(data));
}
ProcedurePtr TransitRegionState::Move(const RegionInfo& region, const std::optional<ServerName>& target) {
  Options options;
  options.target = target;
  options.force_new_plan = !target.has_value();
  return Make(pb::MOVE, region, options);
}
ProcedurePtr TransitRegionState::Reopen(const RegionInfo& region) {
  Options options;
  options.retain = true;
  return Make(pb::REOPEN, region, options);
}

bool TransitRegionState::IsMetaRegion() const { return FromData(data_.region()).IsMeta(); }
std::string TransitRegionState::Encoded() const { return FromData(data_.region()).encoded_name(); }

procedure::LockSet TransitRegionState::Locks() const {
  using procedure::ResourceKey;
  const RegionInfo region = FromData(data_.region());
  if (region.IsMeta()) return {procedure::Exclusive(ResourceKey::Meta())};
  return {procedure::Exclusive(ResourceKey::Region(region.table.ToString(), region.encoded_name()))};
}

std::string TransitRegionState::Describe() const {
  const RegionInfo region = FromData(data_.region());
  std::string text = fmt::format("table={}, region={}, {}", region.table.ToString(), region.encoded_name(),
                                 pb::TransitType_Name(data_.type()));
  if (data_.has_target()) text += "; target=" + data_.target();
  if (data_.begun()) {
    text += fmt::format("{} rit={}, location={}", data_.has_target() ? "," : ";", RegionStateText(RegionStateOf(data_)),
                        data_.location().empty() ? "null" : data_.location());
  }
  if (data_.force_new_plan()) text += "; forceNewPlan=true";
  if (data_.retain()) text += "; retain=true";
  return text;
}

std::optional<StepOutcome> TransitRegionState::Begin(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (!IsMetaRegion()) {
    if (auto wait = RequireMetaLoaded(ctx)) return wait;
  } else if (!env.regions.Get(kMetaEncodedName)) {
    env.regions.Add({MetaRegionInfo(), RegionState::kOffline, {}, {}, 0, 0});
  }
  const std::string encoded = Encoded();
  if (!Own(env)) {
    const auto node = env.regions.Get(encoded);
    if (!node) return Done{"nothing to do: the region is gone"};  // its table was deleted before this began
    return Retry{Error(Code::kUnavailable, fmt::format("the region is in transition by pid={}", node->owner)),
                 std::nullopt};
  }
  const RegionNode node = *env.regions.Get(encoded);
  if (!data_.begun() && IsSplitOrMerged(node.state) && !RATCHET_MUTANT("master.no_look_behind_the_lock")) {
    Disown(env);  // S42: it was, while this waited for the lock
    return Done{fmt::format("nothing to do: the region is {}", RegionStateText(node.state))};
  }
  if (data_.begun()) {
    // One above what is on record is this procedure's own; more than that was written by another one.
    if (node.taken > data_.transition() + 1) data_.set_transition(node.taken);
    return std::nullopt;
  }
  data_.set_begun(true);
  SetState(data_, node.state);
  if (node.location) data_.set_location(node.location->ToString());
  if (node.last_host) data_.set_last_host(node.last_host->ToString());
  data_.set_open_sequence(node.open_sequence);
  data_.set_open_order(node.opening.value());
  data_.set_schema_number(node.descriptor);
  if (node.born != 0) data_.set_born(node.born);
  data_.set_transition(node.taken);  // S65
  if (data_.for_table() && !TableIsGoing(env) && !RATCHET_MUTANT("master.close_for_a_live_table")) {
    return EndNeedless(ctx, node, "nothing to do: the table is not being disabled any more");
  }
  if (data_.has_reopen_below() && !IsOpenBelow(node, data_.reopen_below())) {
    return EndNeedless(ctx, node, "nothing to do: the region is not open with an older descriptor any more");
  }
  return std::nullopt;
}

// It has owned the region for a moment, and does what a crash procedure has left to it in that moment.
StepOutcome TransitRegionState::EndNeedless(StepContext& ctx, const RegionNode& node, std::string why) {
  MasterEnv& env = EnvOf(ctx);
  if (!node.location) env.regions.Disown(Encoded(), pid());
  if (!node.location || !LetGo(env, *node.location) || !env.regions.Own(Encoded(), pid())) return Done{std::move(why)};
  data_.set_type(pb::ASSIGN);
  return LostServer(ctx);
}

bool TransitRegionState::TableIsGoing(MasterEnv& env) const {
  const auto table = env.tables.Get(FromData(data_.region()).table);
  return table && (table->state == TableState::kDisabling || table->state == TableState::kDisabled);
}

StepOutcome TransitRegionState::LostServer(StepContext& ctx) {
  SetState(data_, RegionState::kAbnormallyClosed);
  data_.clear_location();
  if (data_.ends_when_lost()) {
    Show(EnvOf(ctx));
    Disown(EnvOf(ctx));
    return Done{ReshapeResult(pb::SERVER_CRASHED)};
  }
  if (data_.type() == pb::UNASSIGN) data_.set_then_close(true);
  Show(EnvOf(ctx));
  return GoTo(State::kGetAssignCandidate);
}

// Gives up its ownership, and looks a second time. True: if the crash procedure of `server` looked at the server's
// regions before that, it has left this one to us; if after, it takes it.
bool TransitRegionState::LetGo(MasterEnv& env, const ServerName& server) {
  env.regions.Disown(Encoded(), pid());
  if (RATCHET_MUTANT("master.no_second_look")) return false;
  return env.servers.StandingOf(server, IsMetaRegion()) == ServerStanding::kSettled;
}

// The region is open and shown to be.
std::optional<StepOutcome> TransitRegionState::LetGoOpen(StepContext& ctx, const ServerName& server) {
  MasterEnv& env = EnvOf(ctx);
  if (!LetGo(env, server)) return std::nullopt;
  env.regions.Own(Encoded(), pid());
  return LostServer(ctx);
}

// An order's procedure ended without saying how (an operator bypassed it). Closing is an order that every server
// answers, so it tells what the region is.
StepOutcome TransitRegionState::AskWhatItIs(StepContext& ctx) {
  RATCHET_LOG(kWarn, "pid={} does not know what became of its order; closing region {} first", ctx.pid(), Encoded());
  return GoTo(State::kClose);
}

// Nothing when the server serves; waits while it is not known whether it does.
std::optional<StepOutcome> TransitRegionState::RequireServing(StepContext& ctx, const ServerName& server) {
  auto ticket = ctx.TakeTicket(ServerDirectory::StandingEvent(server));  // before looking
  switch (EnvOf(ctx).servers.StandingOf(server, IsMetaRegion())) {
    case ServerStanding::kAwait: return Await{std::move(ticket), std::nullopt};
    case ServerStanding::kSettled: return LostServer(ctx);
    case ServerStanding::kServes: break;
  }
  return std::nullopt;
}

// Some server may have the region: decides what that means for where to go.
std::optional<StepOutcome> TransitRegionState::LeaveServer(StepContext& ctx) {
  if (data_.location().empty()) return std::nullopt;
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.location());
  ShowIfBehind(env);
  if (auto outcome = RequireServing(ctx, server)) return std::move(*outcome);
  if (data_.type() == pb::ASSIGN && RegionStateOf(data_) == RegionState::kOpen && !TableIsGoing(env)) {
    if (auto outcome = LetGoOpen(ctx, server)) return outcome;
    return Done{"open already"};
  }
  return GoTo(State::kClose);
}

// The region need not be open any more, and no server has it.
std::optional<StepOutcome> TransitRegionState::GiveUp(StepContext& ctx) {
  const RegionState state = RegionStateOf(data_);
  const bool going = !IsMetaRegion() && TableIsGoing(EnvOf(ctx));
  if (data_.type() != pb::UNASSIGN && !going) return std::nullopt;
  const bool stubborn = data_.failed_opens() >= EnvOf(ctx).options.immediate_open_attempts;
  // Recovered edits stay inputs of every later opening (S25), so giving up loses nothing; trying first keeps them few.
  const bool tries = HasSchema(EnvOf(ctx), data_) && !(going && stubborn);
  if ((data_.then_close() || state == RegionState::kAbnormallyClosed) && tries) {
    data_.set_then_close(true);
    return std::nullopt;
  }
  return GoTo(State::kClose);
}

StepOutcome TransitRegionState::GetAssignCandidate(StepContext& ctx) {
  if (auto outcome = Begin(ctx)) return std::move(*outcome);
  if (auto outcome = LeaveServer(ctx)) return std::move(*outcome);
  if (const auto by = LetGoOfGivenUp(EnvOf(ctx), data_, pid())) return Done{*by};
  if (!HasTable(EnvOf(ctx), FromData(data_.region()))) return EndWithoutTable(ctx);
  if (auto outcome = GiveUp(ctx)) return std::move(*outcome);
  if (auto outcome = RequireSchema(ctx)) return std::move(*outcome);
  if (data_.backing_off() && ctx.attempt() == 1) {
    const auto& options = EnvOf(ctx).options;
    const std::uint32_t most = options.immediate_open_attempts;
    return Retry{
        Error(Code::kUnavailable, data_.last_refusal()),
        BackoffDelay(options.retry, data_.failed_opens() > most ? data_.failed_opens() - most : 0, ctx.prng())};
  }
  return ChooseServer(ctx);
}

// S68: no order leaves without the table's schema. Waits as after many refusals, without locks, so that the table can
// be disabled and dropped; by then no server has the region.
std::optional<StepOutcome> TransitRegionState::RequireSchema(StepContext& ctx) {
  if (HasSchema(EnvOf(ctx), data_)) return std::nullopt;
  const Status read = ReadSchemaAgain(EnvOf(ctx), FromData(data_.region()).table);
  if (read.ok()) return std::nullopt;
  if (data_.backing_off() && data_.failed_opens() > 0) {
    const auto& options = EnvOf(ctx).options;
    return Retry{read.error(), BackoffDelay(options.retry, ctx.attempt(), ctx.prng())};
  }
  data_.set_backing_off(true);
  data_.set_failed_opens(data_.failed_opens() + 1);
  data_.set_last_refusal(read.error().message());
  Show(EnvOf(ctx));
  return GoTo(State::kGetAssignCandidate);
}

StepOutcome TransitRegionState::ChooseServer(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto ticket = ctx.TakeTicket(ServerDirectory::ServerAddedEvent());
  const PlacementRequest request = WhereTo(data_);
  const auto chosen = env.placement.Choose(request, ServersFor(env, data_, request), env.regions.CountByServer());
  if (!chosen) return Await{std::move(ticket), std::nullopt};
  SetState(data_, RegionState::kOpening);
  data_.set_location(chosen->ToString());
  data_.set_backing_off(false);
  return GoTo(State::kOpen);
}

StepOutcome TransitRegionState::Open(StepContext& ctx) {
  if (auto outcome = Begin(ctx)) return std::move(*outcome);
  MasterEnv& env = EnvOf(ctx);
  // Shown first, looked at second: a crash procedure marks first and looks second, so one of the two sees the other. So
  // does a drain.
  Show(env);
  env.placement.Settled(Encoded());
  const ServerName server = ServerFromData(data_.location());
  // Without a schema there is no descriptor to pin (S48, S68).
  const bool there = HasTable(env, FromData(data_.region()));
  const bool ready = there && (HasSchema(env, data_) || ReadSchemaAgain(env, FromData(data_.region()).table).ok());
  const bool drained = env.servers.IsDecommissioned(server) && !env.servers.Takers().empty() &&
                       !RATCHET_MUTANT("master.open_on_the_drained");
  if (!env.servers.IsOnline(server) || drained || !ready) {
    // No order has left, so nothing is unsettled.
    data_.clear_location();
    Show(env);
    return GoTo(State::kGetAssignCandidate);
  }
  if (auto outcome = WriteRow(ctx, "opening", RegionState::kOpening)) return std::move(*outcome);
  data_.set_transition(data_.transition() + 1);
  if (IsMetaRegion()) {
    pb::MetaLocation location;
    location.set_server(data_.location());
    location.set_transition(data_.transition());
    ctx.PutSystemRecord(std::string(kMetaLocationRecord), location.SerializeAsString());  // S12
  }
  return SpawnThen(State::kConfirmOpened,
                   OpenRegion::Make(data_.region(), data_.location(), data_.transition(),
                                    {data_.open_sequence() > 0, data_.born()}, DescriptorOf(env, data_)));
}

StepOutcome TransitRegionState::ConfirmOpened(StepContext& ctx) {
  if (auto outcome = Begin(ctx)) return std::move(*outcome);
  const pb::OrderResult result = ResultOfOrder(ctx);
  if (!result.has_outcome()) return AskWhatItIs(ctx);
  switch (result.outcome()) {
    case pb::OPENED: return Opened(ctx, result);
    case pb::FAILED_OPEN: return OpenRefused(ctx, result);
    default: return LostServer(ctx);
  }
}

StepOutcome TransitRegionState::Opened(StepContext& ctx, const pb::OrderResult& result) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.location());
  if (auto outcome = RequireServing(ctx, server)) return std::move(*outcome);
  if (result.open_sequence() < data_.open_sequence()) {
    RATCHET_LOG(kWarn, "pid={} region {} opened at sequence {}, below {}", ctx.pid(), Encoded(), result.open_sequence(),
                data_.open_sequence());
  }
  data_.set_open_sequence(std::max(result.open_sequence(), data_.open_sequence()));
  data_.set_open_order(result.open_order());
  data_.set_schema_number(RATCHET_MUTANT("master.unpinned_schema") ? DescriptorOf(env, data_) : result.schema_number());
  if (auto outcome = WriteRow(ctx, "open", RegionState::kOpen)) return std::move(*outcome);
  SetState(data_, RegionState::kOpen);
  data_.set_transition(data_.transition() + 1);
  data_.set_last_host(data_.location());
  data_.set_failed_opens(0);
  data_.clear_avoid();
  Show(env);
  if (IsMetaRegion()) env.executor->Wake(MetaOpenedEvent());  // many may wait with what they could not write
  if (data_.then_close()) return GoTo(State::kClose);
  if (auto outcome = LetGoOpen(ctx, server)) return std::move(*outcome);
  return Done{OpenedBecause(data_)};
}

StepOutcome TransitRegionState::OpenRefused(StepContext& ctx, const pb::OrderResult& result) {
  MasterEnv& env = EnvOf(ctx);
  const std::uint32_t failures = data_.failed_opens() + 1;
  const bool shown = failures >= env.options.failed_open_shown_after;
  if (shown) {
    if (auto outcome = WriteRow(ctx, "failed-open", RegionState::kFailedOpen)) return std::move(*outcome);
    SetState(data_, RegionState::kFailedOpen);
    data_.set_transition(data_.transition() + 1);
  }
  data_.set_last_refusal(fmt::format("{} refused to open the region, {} refusals in a row: {}: {}", data_.location(),
                                     failures, result.error_class(), result.error_message()));
  RATCHET_LOG(kWarn, "pid={} region {}: {}", ctx.pid(), Encoded(), data_.last_refusal());
  data_.set_failed_opens(failures);
  data_.set_backing_off(failures > env.options.immediate_open_attempts);
  data_.add_avoid(data_.location());
  constexpr int kRemembered = 8;
  if (data_.avoid_size() > kRemembered) data_.mutable_avoid()->DeleteSubrange(0, data_.avoid_size() - kRemembered);
  data_.clear_location();  // its answer settles the order: it does not have the region
  Show(env);
  return GoTo(State::kGetAssignCandidate);
}

// OFFLINE where it is closed for a split or a merge: CLOSED would say that it is wanted so, if an operator ended them
// here.
StepOutcome TransitRegionState::FinishClosed(StepContext& ctx) {
  const RegionState closed = data_.ends_when_lost() ? RegionState::kOffline : RegionState::kClosed;
  if (auto outcome = WriteRow(ctx, "closed", closed)) return std::move(*outcome);
  SetState(data_, closed);
  data_.set_transition(data_.transition() + 1);
  data_.clear_location();
  Show(EnvOf(ctx));
  Disown(EnvOf(ctx));
  return Done{data_.ends_when_lost() ? ReshapeResult(pb::CLOSED) : ClosedBecause(data_)};
}

StepOutcome TransitRegionState::Close(StepContext& ctx) {
  if (auto outcome = Begin(ctx)) return std::move(*outcome);
  if (data_.location().empty()) return FinishClosed(ctx);
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.location());
  if (auto outcome = RequireServing(ctx, server)) return std::move(*outcome);
  PlanMove(env, data_);
  if (auto outcome = WriteRow(ctx, "closing", RegionState::kClosing)) return std::move(*outcome);
  SetState(data_, RegionState::kClosing);
  data_.set_transition(data_.transition() + 1);
  Show(env);
  return SpawnThen(State::kConfirmClosed, CloseRegion::Make(data_.region(), data_.location(), data_.target()));
}

StepOutcome TransitRegionState::ConfirmClosed(StepContext& ctx) {
  if (auto outcome = Begin(ctx)) return std::move(*outcome);
  const pb::OrderResult result = ResultOfOrder(ctx);
  if (!result.has_outcome()) return AskWhatItIs(ctx);
  if (result.outcome() != pb::CLOSED) return LostServer(ctx);
  if (data_.type() == pb::UNASSIGN || data_.then_close() || (!IsMetaRegion() && TableIsGoing(EnvOf(ctx)))) {
    return FinishClosed(ctx);
  }
  // On its way elsewhere: meta goes from CLOSING straight to OPENING. Not CLOSED, which would be left so if an operator
  // ended this procedure here.
  SetState(data_, RegionState::kOffline);
  data_.clear_location();
  Show(EnvOf(ctx));
  if (!HasSchema(EnvOf(ctx), data_)) return GoTo(State::kGetAssignCandidate);  // where it can wait without its locks
  return ChooseServer(ctx);  // at once: a candidate needs no commit of its own
}

}  // namespace ratchet::master
