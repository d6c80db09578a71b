#include "master/procedures/assignment/transit_region_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/cluster/transition_counts.h"
#include "master/policy/placement.h"
#include "master/policy/server_choice.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/region_plan.h"
#include "procedure/api/executor.h"

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

TransitionKind KindOf(pb::TransitType type) {
  switch (type) {
    case pb::UNASSIGN: return TransitionKind::kUnassign;
    case pb::MOVE: return TransitionKind::kMove;
    case pb::REOPEN: return TransitionKind::kReopen;
    default: return TransitionKind::kAssign;
  }
}

void SetState(pb::TransitRegionStateData& data, RegionState state) {
  data.set_region_state(static_cast<std::uint32_t>(state));
}

}  // namespace

ProcedurePtr TransitRegionState::Assign(const RegionInfo& region, const Options& options) {
  return Make(pb::ASSIGN, region, options);
}
ProcedurePtr TransitRegionState::TakeOver(const RegionNode& node, const Options& options, const std::string& refusal,
                                          const std::string& server) {
  pb::TransitRegionStateData data;
  data.set_type(pb::ASSIGN);
  *data.mutable_region() = ToData(node.info);
  data.set_retain(options.retain);
  data.set_takes_over(true);
  if (!refusal.empty()) {
    data.set_failed_opens(1);
    data.set_last_refusal(refusal);
    data.add_avoid(server);
  }
  auto procedure = std::make_unique<TransitRegionState>(std::move(data));
  procedure->Begun(node);
  procedure->data_.set_transition(node.transition);
  return procedure;
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
  return {procedure::Exclusive(RegionKey(FromData(data_.region())))};
}

// HBase's "Start" line: always with the region's state and location, which are in the data from the first step on only.
procedure::Description TransitRegionState::DescribeStart(const procedure::EnvRef& env) const {
  const RegionInfo region = FromData(data_.region());
  const auto node = env.As<MasterEnv>().regions.Get(region.encoded_name());
  procedure::Description about;
  about.Add("table", region.table.ToString()).Add("region", region.encoded_name());
  about.Note(pb::TransitType_Name(data_.type())).Section();
  if (data_.has_target()) about.Add("target", data_.target());
  about.Add("rit", RegionStateText(node ? node->state : RegionState::kOffline));
  about.Add("location", node && node->location ? node->location->ToString() : "null").Section();
  return about.Add("forceNewPlan", data_.force_new_plan()).Add("retain", data_.retain());
}

void TransitRegionState::OnSubmitted() const { TransitionCounts::OfProcess().Submitted(KindOf(data_.type())); }

void TransitRegionState::OnFinished(const procedure::FinishInfo& info) const {
  TransitionCounts::OfProcess().Finished(KindOf(data_.type()), info.success, info.duration);
}

procedure::Description TransitRegionState::Describe() const {
  const RegionInfo region = FromData(data_.region());
  procedure::Description about;
  about.Add("table", region.table.ToString()).Add("region", region.encoded_name());
  about.Note(pb::TransitType_Name(data_.type())).Section();
  if (data_.has_target()) about.Add("target", data_.target());
  if (data_.begun()) {
    about.Add("rit", RegionStateText(RegionStateOf(data_)));
    about.Add("location", data_.location().empty() ? "null" : data_.location());
  }
  if (data_.force_new_plan()) about.Section().Add("forceNewPlan", true);
  if (data_.retain()) about.Section().Add("retain", true);
  return about;
}

std::optional<StepOutcome> TransitRegionState::Begin(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (!IsMetaRegion()) {
    RATCHET_STEP(RequireMetaLoaded(ctx));
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
    // S42 (look again after locking): the region was split or merged while this procedure waited for the lock
    Disown(env);
    return Done{fmt::format("nothing to do: the region is {}", RegionStateText(node.state))};
  }
  if (data_.begun()) {
    // The number one above the record belongs to this procedure's own write; a higher one was written by another
    // procedure.
    if (node.reserved > data_.transition() + 1) data_.set_transition(node.reserved);
    return std::nullopt;
  }
  Begun(node);
  data_.set_transition(node.reserved);  // S65 (transition number reserved first)
  if (data_.for_table() && !TableIsGoing(env) && !RATCHET_MUTANT("master.close_for_a_live_table")) {
    return EndNeedless(ctx, node, "nothing to do: the table is no longer being disabled");
  }
  if (data_.has_reopen_below() && !IsOpenBelow(node, data_.reopen_below())) {
    return EndNeedless(ctx, node, "nothing to do: the region is no longer open with an older descriptor");
  }
  return std::nullopt;
}

void TransitRegionState::Begun(const RegionNode& node) {
  data_.set_begun(true);
  SetState(data_, node.state);
  if (node.location) data_.set_location(node.location->ToString());
  if (node.last_host) data_.set_last_host(node.last_host->ToString());
  data_.set_open_sequence(node.open_sequence);
  data_.set_open_number(node.open_number.value());
  data_.set_schema_number(node.schema_number);
  if (node.build_number != 0) data_.set_build_number(node.build_number);
  if (node.issued != 0) data_.set_issued(node.issued);
  if (node.served != 0) data_.set_served(node.served);
  if (node.flushed != 0) data_.set_flushed(node.flushed);
}

// The procedure owned the region briefly: it does the work that a crash procedure skipped in that time.
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
  if (data_.ends_when_lost() && (data_.reopens() || !data_.reopen_when_lost())) return EndLost(ctx);
  if (data_.ends_when_lost()) {
    data_.set_reopens(true);
    Show(EnvOf(ctx));
    return GoTo<&TransitRegionState::GetAssignCandidate>();
  }
  if (data_.type() == pb::UNASSIGN) data_.set_then_close(true);
  Show(EnvOf(ctx));
  return GoTo<&TransitRegionState::GetAssignCandidate>();
}

// A part of a split or merge: returns the region to the parent procedure, which opens it.
StepOutcome TransitRegionState::EndLost(StepContext& ctx) {
  SetState(data_, RegionState::kAbnormallyClosed);
  data_.clear_location();
  Show(EnvOf(ctx));
  Disown(EnvOf(ctx));
  return Done{ReshapeResult(pb::SERVER_CRASHED)};
}

// Releases the ownership, then checks the server again. Returns true if `server` is dead and the region waits for none
// of its logs: its crash procedure may have skipped this region while it had an owner, so the caller must handle the
// loss. If it returns false, a crash procedure that looks later finds the region without an owner.
bool TransitRegionState::LetGo(MasterEnv& env, const ServerName& server) {
  env.regions.Disown(Encoded(), pid());
  const bool settled = StandingOfServer(env, server) == SettlementState::kSettled;
  return settled && !RATCHET_MUTANT("master.no_second_look");
}

// Releases the region after memory shows it as open.
std::optional<StepOutcome> TransitRegionState::LetGoOpen(StepContext& ctx, const ServerName& server) {
  MasterEnv& env = EnvOf(ctx);
  if (!LetGo(env, server)) return std::nullopt;
  env.regions.Own(Encoded(), pid());
  return LostServer(ctx);
}

// The order's procedure ended without a result, because an operator bypassed it. Every server answers a close order, so
// closing settles the region's state.
StepOutcome TransitRegionState::AskWhatItIs(StepContext& ctx) {
  RATCHET_LOG(kWarn, "pid={} does not know the outcome of its order; closing region {} first", ctx.pid(), Encoded());
  return GoTo<&TransitRegionState::Close>();
}

// The region's name is a hash, which only the answer about a dead server needs.
SettlementState TransitRegionState::StandingOfServer(const MasterEnv& env, const ServerName& server) const {
  return env.servers.IsOnline(server) ? SettlementState::kServes : env.servers.SettlementOf(server, Encoded());
}

// Returns nullopt if the server serves; waits while its standing is unknown.
std::optional<StepOutcome> TransitRegionState::RequireServing(StepContext& ctx, const ServerName& server) {
  auto ticket = ctx.TakeTicket(Membership::SettlementEvent(server));  // before the check
  switch (StandingOfServer(EnvOf(ctx), server)) {
    case SettlementState::kAwait: return Await{std::move(ticket), std::nullopt};
    case SettlementState::kSettled: return LostServer(ctx);
    case SettlementState::kServes: break;
  }
  return std::nullopt;
}

// Chooses the next step if a server may have the region.
std::optional<StepOutcome> TransitRegionState::LeaveServer(StepContext& ctx) {
  if (data_.location().empty()) return std::nullopt;
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.location());
  ShowIfBehind(env);
  RATCHET_STEP(RequireServing(ctx, server));
  if (data_.type() == pb::ASSIGN && RegionStateOf(data_) == RegionState::kOpen && !TableIsGoing(env)) {
    RATCHET_STEP(LetGoOpen(ctx, server));
    return Done{"open already"};
  }
  return GoTo<&TransitRegionState::Close>();
}

// Handles a region that need not be open and that no server has.
std::optional<StepOutcome> TransitRegionState::GiveUp(StepContext& ctx) {
  const RegionState state = RegionStateOf(data_);
  const bool going = !IsMetaRegion() && TableIsGoing(EnvOf(ctx));
  if (data_.reopens()) return going ? std::optional<StepOutcome>(EndLost(ctx)) : std::nullopt;
  if (data_.type() != pb::UNASSIGN && !going) return std::nullopt;
  const bool stubborn = data_.failed_opens() >= EnvOf(ctx).options.immediate_open_attempts;
  // Recovered edits stay inputs of every later opening (S25: recovered edits stay until flushed), so giving up loses no
  // data; a try before keeps their number small.
  const bool tries = HasSchema(EnvOf(ctx), data_) && !(going && stubborn);
  if ((data_.then_close() || state == RegionState::kAbnormallyClosed) && tries) {
    data_.set_then_close(true);
    return std::nullopt;
  }
  return GoTo<&TransitRegionState::Close>();
}

StepOutcome TransitRegionState::GetAssignCandidate(StepContext& ctx) {
  RATCHET_STEP(Begin(ctx));
  RATCHET_STEP(LeaveServer(ctx));
  RATCHET_STEP(LeaveToGiveUp(ctx));
  if (!HasTable(EnvOf(ctx), FromData(data_.region()))) return EndWithoutTable(ctx);
  RATCHET_STEP(GiveUp(ctx));
  RATCHET_STEP(RequireSchema(ctx));
  if (data_.backing_off() && ctx.attempt() == 1) {
    const auto& options = EnvOf(ctx).options;
    const std::uint32_t most = options.immediate_open_attempts;
    return Retry{
        Error(Code::kUnavailable, data_.last_refusal()),
        BackoffDelay(options.retry, data_.failed_opens() > most ? data_.failed_opens() - most : 0, ctx.prng())};
  }
  return ChooseServer(ctx);
}

// S68 (unreadable schema is an error): no open order is sent without the table's schema. Waits without locks, as after
// many refusals, so that the table can be disabled and dropped; no server has the region at this point.
std::optional<StepOutcome> TransitRegionState::RequireSchema(StepContext& ctx) {
  if (HasSchema(EnvOf(ctx), data_)) return std::nullopt;
  if (data_.reopens()) return EndLost(ctx);
  auto schema = ReadMissingSchema(ctx, FromData(data_.region()).table);
  RATCHET_STEP(schema.wait);
  const Status& read = *schema.result;
  if (read.ok()) return std::nullopt;
  if (data_.backing_off() && data_.failed_opens() > 0) {
    const auto& options = EnvOf(ctx).options;
    return Retry{read.error(), BackoffDelay(options.retry, ctx.attempt(), ctx.prng())};
  }
  data_.set_backing_off(true);
  data_.set_failed_opens(data_.failed_opens() + 1);
  data_.set_last_refusal(read.error().message());
  Show(EnvOf(ctx));
  return GoTo<&TransitRegionState::GetAssignCandidate>();
}

StepOutcome TransitRegionState::ChooseServer(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto ticket = ctx.TakeTicket(Membership::ServerAddedEvent());
  const PlacementRequest request = WhereTo(data_);
  const auto chosen = env.placement.Choose(request, *ServersFor(env, data_, request), LoadsOf(env));
  if (!chosen && data_.reopens()) return EndLost(ctx);
  if (!chosen) return Await{std::move(ticket), std::nullopt};
  SetState(data_, RegionState::kOpening);
  data_.set_location(chosen->ToString());
  data_.set_backing_off(false);
  return GoTo<&TransitRegionState::Open>();
}

StepOutcome TransitRegionState::Open(StepContext& ctx) {
  RATCHET_STEP(Begin(ctx));
  MasterEnv& env = EnvOf(ctx);
  // Updates memory first and checks the server second. A crash procedure and a drain mark the server first and look at
  // the regions second, so one of the two sees the other.
  Show(env);
  env.placement.Settled(Encoded());
  const ServerName server = ServerFromData(data_.location());
  // Without a schema there is no descriptor to pin (S48: schema pinned in the order; S68).
  const bool there = HasTable(env, FromData(data_.region()));
  auto schema = ReadMissingSchema(ctx, FromData(data_.region()).table);
  RATCHET_STEP(schema.wait);
  const bool ready = there && schema.result->ok();
  const bool drained = env.decommissions.Has(server) && !EligibleServers(env.servers, env.decommissions).empty() &&
                       !RATCHET_MUTANT("master.open_on_the_drained");
  if (!env.servers.IsOnline(server) || drained || !ready) {
    // No order was sent, so nothing is unsettled.
    data_.clear_location();
    Show(env);
    return GoTo<&TransitRegionState::GetAssignCandidate>();
  }
  RATCHET_STEP(WriteRow(ctx, "opening", RegionState::kOpening));
  data_.set_transition(data_.transition() + 1);
  RegionPast past{data_.open_sequence() > 0 || data_.served() > 0, data_.build_number(), data_.issued(), data_.served(),
                  data_.flushed()};
  // The order's number is not known yet, so from here on only this procedure's data has the newest number.
  data_.set_issued_before(data_.issued());
  data_.clear_issued();
  PutMetaLocation(ctx);  // S12 (system record with its lock)
  return SpawnThen<&TransitRegionState::ConfirmOpened>(
      OpenRegion::Make(data_.region(), data_.location(), data_.transition(), past, DescriptorOf(env, data_)));
}

StepOutcome TransitRegionState::ConfirmOpened(StepContext& ctx) {
  RATCHET_STEP(Begin(ctx));
  NoteIssued(ctx);
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
  RATCHET_STEP(RequireServing(ctx, server));
  if (result.open_sequence() < data_.open_sequence()) {
    RATCHET_LOG(kWarn, "pid={} region {} opened at sequence {}, below its earlier sequence {}", ctx.pid(), Encoded(),
                result.open_sequence(), data_.open_sequence());
  }
  data_.set_open_sequence(std::max(result.open_sequence(), data_.open_sequence()));
  data_.set_open_number(result.open_order());
  const bool pinned = !result.has_schema_number() || !RATCHET_MUTANT("master.unpinned_schema");
  data_.set_schema_number(pinned ? result.schema_number() : DescriptorOf(env, data_));
  // S118 (older copy stays closed): this opening had the highest number when it began to serve (S21: numbered
  // openings), and no higher one was issued since.
  data_.set_issued(result.open_order());
  if (result.has_open_number()) data_.set_served(std::max(result.open_number(), data_.served()));
  RATCHET_STEP(WriteRow(ctx, "open", RegionState::kOpen));
  SetState(data_, RegionState::kOpen);
  data_.set_transition(data_.transition() + 1);
  PutMetaLocation(ctx);
  data_.set_last_host(data_.location());
  data_.set_failed_opens(0);
  data_.clear_avoid();
  Show(env);
  if (IsMetaRegion()) env.executor->Wake(MetaOpenedEvent());  // many procedures may wait to write to meta
  if (data_.then_close()) return GoTo<&TransitRegionState::Close>();
  if (data_.reopens()) {  // the split or merge rolls back, and checks the region's server again
    Disown(env);
    return Done{ReshapeResult(pb::SERVER_CRASHED)};
  }
  RATCHET_STEP(LetGoOpen(ctx, server));
  return Done{OpenedBecause(data_)};
}

StepOutcome TransitRegionState::OpenRefused(StepContext& ctx, const pb::OrderResult& result) {
  MasterEnv& env = EnvOf(ctx);
  const std::uint32_t failures = data_.failed_opens() + 1;
  const bool shown = failures >= env.options.failed_open_shown_after;
  if (shown) {
    RATCHET_STEP(WriteRow(ctx, "failed-open", RegionState::kFailedOpen));
    SetState(data_, RegionState::kFailedOpen);
    data_.set_transition(data_.transition() + 1);
  }
  ReportIfWentBack(env, Encoded(), result.error_class(), result.error_message());
  data_.set_last_refusal(fmt::format("{} refused to open the region, {} refusals in a row: {}: {}", data_.location(),
                                     failures, result.error_class(), result.error_message()));
  RATCHET_LOG(kWarn, "pid={} region {}: {}", ctx.pid(), Encoded(), data_.last_refusal());
  data_.set_failed_opens(failures);
  data_.set_backing_off(failures > env.options.immediate_open_attempts);
  data_.add_avoid(data_.location());
  constexpr int kRemembered = 8;
  if (data_.avoid_size() > kRemembered) data_.mutable_avoid()->DeleteSubrange(0, data_.avoid_size() - kRemembered);
  data_.clear_location();  // the answer settles the order: the server does not have the region
  if (data_.reopens()) return EndLost(ctx);
  Show(env);
  return GoTo<&TransitRegionState::GetAssignCandidate>();
}

StepOutcome TransitRegionState::Close(StepContext& ctx) {
  RATCHET_STEP(Begin(ctx));
  if (data_.location().empty()) return FinishClosed(ctx);
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.location());
  RATCHET_STEP(RequireServing(ctx, server));
  PlanMove(env, data_);
  RATCHET_STEP(WriteRow(ctx, "closing", RegionState::kClosing));
  SetState(data_, RegionState::kClosing);
  data_.set_transition(data_.transition() + 1);
  Show(env);
  return SpawnThen<&TransitRegionState::ConfirmClosed>(
      CloseRegion::Make(data_.region(), data_.location(), data_.target()));
}

StepOutcome TransitRegionState::ConfirmClosed(StepContext& ctx) {
  RATCHET_STEP(Begin(ctx));
  const pb::OrderResult result = ResultOfOrder(ctx);
  if (!result.has_outcome()) return AskWhatItIs(ctx);
  if (result.outcome() != pb::CLOSED) return LostServer(ctx);
  if (result.has_flushed()) data_.set_flushed(std::max(result.flushed(), data_.flushed()));
  if (data_.type() == pb::UNASSIGN || data_.then_close() || (!IsMetaRegion() && TableIsGoing(EnvOf(ctx)))) {
    return FinishClosed(ctx);
  }
  // During a move, meta changes from CLOSING directly to OPENING. A CLOSED region would stay closed if an operator
  // ended this procedure here.
  SetState(data_, RegionState::kOffline);
  data_.clear_location();
  Show(EnvOf(ctx));
  if (!HasSchema(EnvOf(ctx), data_))
    return GoTo<&TransitRegionState::GetAssignCandidate>();  // that step can wait without locks
  return ChooseServer(ctx);  // in the same step, because a candidate needs no separate commit
}

}  // namespace ratchet::master
