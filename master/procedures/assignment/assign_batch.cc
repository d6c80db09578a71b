#include "master/procedures/assignment/assign_batch.h"

#include <algorithm>
#include <map>
#include <utility>

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
#include "master/procedures/assignment/region_orders.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/region_plan.h"
#include "master/procedures/core/remote_order.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// The region without its table, which the batch names once.
pb::Region WithoutTable(const RegionInfo& info) {
  pb::Region region = ToData(info);
  region.clear_ns();
  region.clear_qualifier();
  return region;
}

void SetUnlessZero(std::uint64_t value, void (pb::BatchRegion::*set)(std::uint64_t), pb::BatchRegion& region) {
  if (value != 0) (region.*set)(value);
}

// Reports may come while the rows of a part are being written: the regions of the part are recorded before.
bool IsOfPart(const pb::BatchRegion& region) {
  return region.showing() || (RATCHET_MUTANT("batch.show_unwritten") && region.has_outcome());
}

bool IsOpened(const pb::BatchRegion& region) { return region.has_outcome() && region.outcome() == pb::OPENED; }

void NoteAnswer(const pb::RegionAnswer& answer, pb::BatchRegion& region) {
  if (region.has_outcome()) return;  // a repeated answer
  region.set_outcome(answer.outcome());
  if (answer.outcome() != pb::OPENED) {
    constexpr std::size_t kKept = 300;  // bytes of each message, because a record has many
    region.set_error_class(answer.error_class());
    region.set_error_message(answer.error_message().substr(0, kKept));
    return;
  }
  region.set_opened_sequence(answer.open_sequence());
  if (answer.has_schema_number()) region.set_opened_schema(answer.schema_number());
  if (answer.has_open_number()) region.set_opened_number(answer.open_number());
}

using Regions = google::protobuf::RepeatedPtrField<pb::BatchRegion>;

// Moves the regions for which `leaves` is true out of `regions`. Both keep their order.
template <class Leaves>
std::vector<pb::BatchRegion> TakeOut(Regions& regions, const Leaves& leaves) {
  Regions all;
  all.Swap(&regions);
  std::vector<pb::BatchRegion> taken;
  for (pb::BatchRegion& region : all) {
    if (leaves(region)) {
      taken.push_back(std::move(region));
    } else {
      *regions.Add() = std::move(region);
    }
  }
  return taken;
}

bool IsAny(const pb::BatchRegion& /*region*/) { return true; }

}  // namespace

ProcedurePtr AssignBatch::Make(const ServerName& server, const std::vector<RegionNode>& regions, bool retain) {
  pb::AssignBatchData data;
  std::map<TableName, std::uint32_t> places;
  data.set_server(server.ToString());
  data.set_retain(retain);
  data.set_total(static_cast<std::uint32_t>(regions.size()));
  for (const RegionNode& node : regions) {
    pb::BatchRegion& region = *data.add_regions();
    *region.mutable_region() = WithoutTable(node.info);
    const auto [place, added] = places.try_emplace(node.info.table, static_cast<std::uint32_t>(places.size()));
    region.set_table(place->second);
    if (added) {
      pb::BatchTable& table = *data.add_tables();
      table.set_ns(node.info.table.ns);
      table.set_qualifier(node.info.table.qualifier);
    }
    region.set_transition(node.reserved);
  }
  return std::make_unique<AssignBatch>(std::move(data));
}

// A region of a damaged record may name no table. Its table has no name then, so no region of the cluster is meant.
TableName AssignBatch::TableOf(const pb::BatchRegion& region) const {
  if (region.table() >= static_cast<std::uint32_t>(data_.tables_size())) return {};
  const pb::BatchTable& table = data_.tables(static_cast<int>(region.table()));
  return {table.ns(), table.qualifier()};
}

std::uint64_t AssignBatch::PinnedSchema(const pb::BatchRegion& region) const {
  if (region.table() >= static_cast<std::uint32_t>(data_.tables_size())) return 0;
  return data_.tables(static_cast<int>(region.table())).schema_number();
}

RegionInfo AssignBatch::InfoOf(const pb::BatchRegion& region) const {
  RegionInfo info = FromData(region.region());
  info.table = TableOf(region);
  return info;
}

const std::string& AssignBatch::Encoded(const pb::BatchRegion& region) const {
  std::string key = region.region().start_key();
  for (const std::uint64_t number : {std::uint64_t{region.table()}, std::uint64_t{region.region().region_id()},
                                     static_cast<std::uint64_t>(region.region().replica_id())})
    key.append(reinterpret_cast<const char*>(&number), sizeof(number));
  const auto [name, added] = names_.try_emplace(std::move(key));
  if (added) name->second = InfoOf(region).encoded_name();
  return name->second;
}

procedure::ResourceKey AssignBatch::KeyOf(const pb::BatchRegion& region) const {
  return RegionKey(TableOf(region), Encoded(region));
}

// Empty once the batch has handed regions on, so that it waits for no lock before END.
procedure::LockSet AssignBatch::Locks() const {
  procedure::LockSet locks;
  if (data_.handed()) return locks;
  for (const pb::BatchRegion& region : data_.regions()) locks.Add(procedure::Exclusive(KeyOf(region)));
  for (const pb::BatchRegion& region : data_.others()) locks.Add(procedure::Exclusive(KeyOf(region)));
  for (const pb::BatchRegion& region : data_.shown()) locks.Add(procedure::Exclusive(KeyOf(region)));
  return locks;
}

std::size_t AssignBatch::OpenedNow() const {
  return static_cast<std::size_t>(std::count_if(data_.regions().begin(), data_.regions().end(), IsOpened));
}

std::size_t AssignBatch::Unanswered() const {
  return static_cast<std::size_t>(std::count_if(data_.regions().begin(), data_.regions().end(),
                                                [](const pb::BatchRegion& region) { return !region.has_outcome(); }));
}

procedure::Absorbed AssignBatch::Absorb(std::string_view message) {
  using procedure::Absorbed;
  pb::OrderAnswer answers;
  if (auto refused = ReadAnswer(message, data_.server(), kAttempt, answers)) return *std::move(refused);
  pb::RegionAnswer first;
  first.set_encoded_region(answers.encoded_region());
  first.set_outcome(answers.outcome());
  first.set_open_sequence(answers.open_sequence());
  if (answers.has_schema_number()) first.set_schema_number(answers.schema_number());
  if (answers.has_open_number()) first.set_open_number(answers.open_number());
  first.set_error_class(answers.error_class());
  first.set_error_message(answers.error_message());
  std::map<std::string, const pb::RegionAnswer*, std::less<>> by_name{{first.encoded_region(), &first}};
  for (const pb::RegionAnswer& answer : answers.more()) by_name.emplace(answer.encoded_region(), &answer);
  for (const auto& [region, answer] : by_name) {
    if (answer->outcome() != pb::OPENED && answer->outcome() != pb::FAILED_OPEN)
      return Absorbed::Stale("not a valid answer to this kind of order");
  }
  std::vector<std::pair<pb::BatchRegion*, const pb::RegionAnswer*>> answered;
  std::size_t named = 0;
  for (pb::BatchRegion& region : *data_.mutable_regions()) {
    const auto answer = by_name.find(Encoded(region));
    if (answer != by_name.end()) ++named;
    if (answer != by_name.end() || RATCHET_MUTANT("batch.one_for_all"))
      answered.emplace_back(&region, answer != by_name.end() ? answer->second : &first);
  }
  if (named != by_name.size()) {  // repeated answers; each look at a region makes a hash
    for (const pb::BatchRegion& region : data_.shown()) named += by_name.contains(Encoded(region)) ? 1 : 0;
  }
  if (named != by_name.size()) return Absorbed::Stale("the order was about other regions");
  for (const auto& [region, answer] : answered) NoteAnswer(*answer, *region);
  return Absorbed::Taken();
}

// S17 (answer or fence settles an order)
Status AssignBatch::CheckBypass() const { return Unsettled() ? ratchet::master::Unsettled(data_.server()) : Ok(); }

Claims AssignBatch::Uses() const {
  Claims claims;
  if (Unsettled()) claims.awaited_server = data_.server();
  return claims;
}

procedure::Description AssignBatch::Describe() const {
  procedure::Description about;
  if (data_.tables_size() == 1)
    about.Add("table", TableName(data_.tables(0).ns(), data_.tables(0).qualifier()).ToString());
  about.Add("server", data_.server());
  const auto waits = std::find_if(data_.regions().begin(), data_.regions().end(),
                                  [](const pb::BatchRegion& region) { return !region.has_outcome(); });
  if (waits != data_.regions().end()) about.Add("first", Encoded(*waits));
  AddRegionsLeft(about, Parts());
  return about;
}

std::optional<procedure::PartsLeft> AssignBatch::Parts() const {
  const auto others = static_cast<std::uint64_t>(data_.others_size());
  return procedure::PartsLeft{Unanswered() + others, data_.total()};
}

// The regions that transitions have opened are counted by these.
void AssignBatch::OnFinished(const procedure::FinishInfo& info) const {
  for (std::uint32_t i = 0; i < data_.opened(); ++i) {
    TransitionCounts::OfProcess().Submitted(TransitionKind::kAssign);
    TransitionCounts::OfProcess().Finished(TransitionKind::kAssign, info.success, info.duration);
  }
}

RegionNode AssignBatch::NodeOf(const pb::BatchRegion& region, RegionState state) const {
  RegionNode node;
  node.info = InfoOf(region);
  node.state = state;
  if (NeedsServer(state)) node.location = Server();
  node.last_host = state == RegionState::kOpen ? Server() : MaybeServerFromData(region.last_host());
  node.open_sequence = region.open_sequence();
  node.transition = region.transition();
  node.open_number = ProcId(region.open_number());
  node.schema_number = region.schema_number();
  node.build_number = region.build_number();
  // S118 (older copy stays closed): this opening had the highest number when it began to serve.
  node.issued = state == RegionState::kOpen ? pid().value() : 0;
  node.served = region.served();
  node.flushed = region.flushed();
  node.owner = pid();
  return node;
}

void AssignBatch::OnRecovered(const procedure::EnvRef& env) {
  recovered_ = true;
  if (!data_.begun() || data_.handed()) return;
  RegionDirectory& regions = env.As<MasterEnv>().regions;
  for (const pb::BatchRegion& region : data_.regions()) regions.Restore(NodeOf(region, RegionState::kOpening));
  for (const pb::BatchRegion& region : data_.others()) {
    if (region.has_handed_state()) regions.Restore(HandedNode(region));
  }
}

// The node of a region that is handed on, in the state in which its transition gets it.
RegionNode AssignBatch::HandedNode(const pb::BatchRegion& region) const {
  const auto state = RegionStateFromNumber(static_cast<int>(region.handed_state()));
  RegionNode node = NodeOf(region, state.value_or(RegionState::kAbnormallyClosed));
  if (!region.located()) node.location.reset();
  return node;
}

void AssignBatch::Show(MasterEnv& env, const pb::BatchRegion& region, RegionState state) const {
  env.regions.Show(region.has_handed_state() ? HandedNode(region) : NodeOf(region, state));
}

// S172 (one number for a batch): the batch has its pid since it was planned, and owns the region only now. Each opening
// begins with a write to the region's row, so if the row's number is as it was then, no order with a higher number was
// given since.
bool AssignBatch::Take(MasterEnv& env, const pb::BatchRegion& region) {
  const std::string encoded = Encoded(region);
  const auto node = env.regions.Get(encoded);
  const bool free = node && (!node->owner.valid() || node->owner == pid()) && env.regions.Own(encoded, pid());
  if (!free) return false;
  const bool unchanged = node->reserved == region.transition() || RATCHET_MUTANT("batch.number_unproven");
  const auto gone = [&](const ServerName& server) {
    return !env.servers.IsOnline(server) && env.servers.SettlementOf(server, encoded) == SettlementState::kSettled;
  };
  switch (node->state) {
    case RegionState::kOffline:
    case RegionState::kClosed:
    case RegionState::kAbnormallyClosed:
      if (unchanged && !node->location && !node->unplaced) return true;
      break;
    case RegionState::kOpen:
      if (unchanged && node->location && gone(*node->location)) return true;
      break;
    default: break;
  }
  env.regions.Disown(encoded, pid());
  return false;
}

bool AssignBatch::MaySend(const MasterEnv& env) const {
  return env.servers.IsOnline(Server()) && !env.decommissions.Has(Server());
}

std::vector<bool> AssignBatch::OrderableTables(const MasterEnv& env) const {
  std::vector<bool> orderable;
  for (const pb::BatchTable& named : data_.tables()) {
    const auto table = env.tables.Get(TableName(named.ns(), named.qualifier()));
    orderable.push_back(table && table->schema != nullptr && table->state != TableState::kDisabling &&
                        table->state != TableState::kDisabled);
  }
  return orderable;
}

StepOutcome AssignBatch::Plan(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const bool sends = MaySend(env);
  const std::vector<bool> orderable = OrderableTables(env);
  for (pb::BatchRegion& region : TakeOut(*data_.mutable_regions(), IsAny)) {
    const std::string encoded = Encoded(region);
    env.placement.Settled(encoded);
    const bool wanted = region.table() < orderable.size() && orderable[region.table()];
    if (!sends || !wanted || !Take(env, region)) {
      *data_.add_others() = std::move(region);  // also if it is gone, because the locks stay the same
      continue;
    }
    env.regions.Update(encoded, [&](RegionNode& node) {
      if (node.state != RegionState::kOpen) return;
      node.state = RegionState::kAbnormallyClosed;
      node.location.reset();
    });
    const RegionNode node = *env.regions.Get(encoded);
    SetUnlessZero(node.open_sequence, &pb::BatchRegion::set_open_sequence, region);
    SetUnlessZero(node.open_number.value(), &pb::BatchRegion::set_open_number, region);
    SetUnlessZero(node.schema_number, &pb::BatchRegion::set_schema_number, region);
    SetUnlessZero(node.build_number, &pb::BatchRegion::set_build_number, region);
    SetUnlessZero(node.issued, &pb::BatchRegion::set_issued, region);
    SetUnlessZero(node.served, &pb::BatchRegion::set_served, region);
    SetUnlessZero(node.flushed, &pb::BatchRegion::set_flushed, region);
    if (node.last_host) region.set_last_host(node.last_host->ToString());
    *data_.add_regions() = std::move(region);
  }
  data_.set_begun(true);
  if (data_.regions_size() == 0) return GoTo<&AssignBatch::Confirm>();
  return GoTo<&AssignBatch::WriteOpening>();
}

// A step may run again after it ended the ownership, or after an operator's verb: another procedure may own a region
// then, and handles it.
void AssignBatch::KeepOwned(MasterEnv& env) {
  const auto is_lost = [&](const pb::BatchRegion& region) { return !env.regions.Own(Encoded(region), pid()); };
  for (pb::BatchRegion& region : TakeOut(*data_.mutable_regions(), is_lost)) *data_.add_others() = std::move(region);
}

// No order may be sent for regions of the other tables: their schemas cannot be read, or they are being disabled.
void AssignBatch::HandOnOf(MasterEnv& env, const std::vector<bool>& orderable) {
  const auto is_left = [&](const pb::BatchRegion& region) {
    return region.table() >= orderable.size() || !orderable[region.table()];
  };
  for (pb::BatchRegion& region : TakeOut(*data_.mutable_regions(), is_left)) HandOn(env, std::move(region));
}

// The order of memory and checks is that of TransitRegionState::Open: a crash procedure and a drain mark the server
// first and look at the regions second.
StepOutcome AssignBatch::WriteOpening(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  KeepOwned(env);
  HandOnOf(env, OrderableTables(env));
  for (pb::BatchRegion& region : *data_.mutable_regions()) {
    // The number one above belongs to this procedure's own write; a higher one was written by another procedure.
    const auto node = env.regions.Get(Encoded(region));
    if (node && node->reserved > region.transition() + 1) region.set_transition(node->reserved);
    Show(env, region, RegionState::kOpening);
  }
  bool refused = !MaySend(env);
  if (!refused) RATCHET_STEP(WriteRows(ctx, "opening", RegionState::kOpening, IsAny, &refused));
  if (refused) {  // no order was sent
    HandAllOn(env);
    return GoTo<&AssignBatch::Confirm>();
  }
  for (pb::BatchRegion& region : *data_.mutable_regions()) region.set_transition(region.transition() + 1);
  for (pb::BatchTable& named : *data_.mutable_tables()) {
    const auto table = env.tables.Get(TableName(named.ns(), named.qualifier()));
    if (table) named.set_schema_number(table->schema_number);
  }
  data_.set_ordered(true);
  return GoTo<&AssignBatch::Dispatch>();
}

std::optional<StepOutcome> AssignBatch::WriteRows(StepContext& ctx, std::string_view key, RegionState state,
                                                  Choice wanted, bool* refused) {
  std::vector<MetaEdit> edits;
  for (const pb::BatchRegion& region : data_.regions()) {
    if (!wanted(region)) continue;
    const RegionNode node = NodeOf(region, state);
    RegionRow row;
    row.region = node.info;
    row.state = state;
    row.location = row.target = Server();
    row.open_sequence = node.open_sequence;
    row.transition = region.transition() + 1;
    row.schema_number = node.schema_number;
    row.issued = node.issued;
    row.served = node.served;
    row.flushed = node.flushed;
    EnvOf(ctx).regions.Reserve(Encoded(region), row.transition);  // S65 (transition number reserved first)
    edits.push_back(EditRegion(MetaEdit::Kind::kUpdateRegion, std::move(row)));
  }
  return WriteMetaOrRefuse(ctx, key, edits, refused);
}

// S48 (schema pinned in the order). Only regions without an answer are ordered again.
Acted<Result<OpenBatchOrder>> AssignBatch::MakeOrder(StepContext& ctx) const {
  std::map<std::uint32_t, TableNode> tables;
  for (const pb::BatchRegion& region : data_.regions()) {
    if (region.has_outcome() || tables.contains(region.table())) continue;
    auto read = ReadPinnedSchema(ctx, TableOf(region), PinnedSchema(region));
    if (read.wait) return {std::move(read.wait), std::nullopt};
    if (!read.result->ok()) return {std::nullopt, Result<OpenBatchOrder>(read.result->error())};
    tables.emplace(region.table(), **std::move(read.result));
  }
  OpenBatchOrder batch;
  batch.id = {ctx.pid(), kAttempt};
  for (const pb::BatchRegion& region : data_.regions()) {
    if (region.has_outcome()) continue;
    const RegionPast past{region.open_sequence() > 0 || region.served() > 0, region.build_number(), region.issued(),
                          region.served(), region.flushed()};
    batch.opens.push_back(OrderToOpen(batch.id, InfoOf(region), tables.at(region.table()), region.transition(), past));
  }
  return Ready(std::move(batch));
}

// Returns nullopt if the server serves or has ended, which the data then shows.
std::optional<StepOutcome> AssignBatch::AwaitStanding(StepContext& ctx) {
  auto ticket = SettlementTicket(ctx, data_.server());  // before the check
  // As for an order about all regions of the server: all of its logs must be split.
  switch (StandingOf(ctx, data_.server(), /*owns_region=*/true, [] { return std::string(); })) {
    case SettlementState::kAwait: return Await{std::move(ticket), std::nullopt};
    case SettlementState::kSettled: data_.set_lost(true); break;
    case SettlementState::kServes: break;
  }
  return std::nullopt;
}

StepOutcome AssignBatch::Dispatch(StepContext& ctx) {
  auto ticket = SettlementTicket(ctx, data_.server());  // taken before the check, and before the server can answer
  const bool timed_out = ctx.timed_out();
  // S93 (transition without a row ends): no order can be made without a table. The region's transition orders the
  // server to close it, which settles the effect of an earlier send.
  for (pb::BatchRegion& region : *data_.mutable_regions()) {
    if (!region.has_outcome() && !EnvOf(ctx).tables.Exists(TableOf(region))) region.set_outcome(pb::FAILED);
  }
  if (Unanswered() == 0 || (timed_out && RATCHET_MUTANT("batch.end_without_answer")))
    return GoTo<&AssignBatch::Confirm>();
  RATCHET_STEP(AwaitStanding(ctx));
  if (data_.lost()) return GoTo<&AssignBatch::Confirm>();
  // After a report with some of the answers, the other regions are not ordered again.
  const std::size_t opened = OpenedNow();
  if (opened > 0 && !recovered_ && !data_.whole()) {
    constexpr Millis kQuiet{1'000};
    constexpr std::size_t kFew = 16;
    const std::size_t enough = std::max<std::size_t>(kFew, data_.total() / 4);
    if (timed_out || opened >= enough) {
      for (pb::BatchRegion& region : *data_.mutable_regions()) region.set_showing(IsOpened(region));
      return GoTo<&AssignBatch::ShowPart>();
    }
    return Await{std::move(ticket), kQuiet, /*in_memory=*/true};
  }
  const bool first = Unanswered() == static_cast<std::size_t>(data_.regions_size()) && data_.shown_size() == 0;
  if (!recovered_ && !timed_out && !first)
    return Await{std::move(ticket), EnvOf(ctx).options.order_resend, /*in_memory=*/true};
  RATCHET_STEP(RequireOwner(ctx));  // S18 (check before each send): as in RemoteOrder
  auto order = MakeOrder(ctx);
  RATCHET_STEP(order.wait);
  if (!order.result->ok()) return Retry{order.result->error(), std::nullopt};
  recovered_ = false;
  return SendOrder(ctx, data_.server(), std::move(*order.result).value(), std::move(ticket), std::nullopt);
}

// The batch owns the region until its transition begins. A server may have it only if it has opened it, or if nothing
// is known of it because its table is gone.
void AssignBatch::HandOn(MasterEnv& env, pb::BatchRegion region) {
  if (region.has_outcome() && region.outcome() == pb::FAILED_OPEN) NoteRefusal(env, region);
  const auto node = env.regions.Get(Encoded(region));
  // The transition's writes have other numbers than those of the batch (S65: transition number reserved first).
  if (node && node->reserved > region.transition()) region.set_transition(node->reserved);
  const RegionState state = data_.lost() ? RegionState::kAbnormallyClosed : RegionState::kOpening;
  region.set_handed_state(static_cast<std::uint32_t>(state));
  const bool refused = !region.has_outcome() || region.outcome() == pb::FAILED_OPEN;  // or not ordered
  region.set_located(!refused && !data_.lost());
  Show(env, region, state);
  *data_.add_others() = std::move(region);
}

void AssignBatch::HandAllOn(MasterEnv& env) {
  for (pb::BatchRegion& region : TakeOut(*data_.mutable_regions(), IsAny)) {
    // False: LetGo ended the ownership, and another procedure has the region.
    if (env.regions.Own(Encoded(region), pid())) HandOn(env, std::move(region));
  }
}

void AssignBatch::NoteRefusal(MasterEnv& env, const pb::BatchRegion& region) const {
  const std::string refusal = RefusalOf(region);
  RATCHET_LOG(kWarn, "pid={} region {}: {}", pid(), Encoded(region), refusal);
  ReportIfWentBack(env, Encoded(region), region.error_class(), region.error_message());
}

std::string AssignBatch::RefusalOf(const pb::BatchRegion& region) const {
  return fmt::format("{} refused to open the region: {}: {}", data_.server(), region.error_class(),
                     region.error_message());
}

bool AssignBatch::LetGo(MasterEnv& env, Choice wanted) const {
  for (const pb::BatchRegion& region : data_.regions()) {
    if (wanted(region)) env.regions.Disown(Encoded(region), pid());
  }
  const bool ended =
      !env.servers.IsOnline(Server()) && env.servers.SettlementOf(Server(), /*region=*/{}) == SettlementState::kSettled;
  return ended && !RATCHET_MUTANT("batch.no_second_look");
}

// Writes the rows of the opened regions, then shows them. Hands all regions on if that cannot be done.
std::optional<StepOutcome> AssignBatch::ShowOpened(StepContext& ctx, Choice wanted) {
  MasterEnv& env = EnvOf(ctx);
  RATCHET_STEP(AwaitStanding(ctx));
  KeepOwned(env);
  if (data_.lost()) return std::nullopt;
  for (pb::BatchRegion& region : *data_.mutable_regions()) {
    if (!wanted(region)) continue;
    region.set_open_sequence(std::max(region.opened_sequence(), region.open_sequence()));
    region.set_open_number(ctx.pid().value());
    region.set_schema_number(region.has_opened_schema() ? region.opened_schema() : PinnedSchema(region));
    if (region.has_opened_number()) region.set_served(std::max(region.opened_number(), region.served()));
  }
  bool refused = false;
  RATCHET_STEP(WriteRows(ctx, "open", RegionState::kOpen, wanted, &refused));
  if (refused) return std::nullopt;
  for (pb::BatchRegion& region : *data_.mutable_regions()) {
    if (!wanted(region)) continue;
    region.set_transition(region.transition() + 1);
    Show(env, region, RegionState::kOpen);
  }
  if (LetGo(env, wanted)) {
    data_.set_lost(true);
    return std::nullopt;
  }
  for (pb::BatchRegion& region : TakeOut(*data_.mutable_regions(), wanted)) {
    data_.set_opened(data_.opened() + 1);
    pb::BatchRegion& shown = *data_.add_shown();
    shown.set_table(region.table());
    *shown.mutable_region() = std::move(*region.mutable_region());
  }
  return std::nullopt;
}

// Clients find the regions that are open while others are still being opened.
StepOutcome AssignBatch::ShowPart(StepContext& ctx) {
  RATCHET_STEP(ShowOpened(ctx, IsOfPart));
  if (std::any_of(data_.regions().begin(), data_.regions().end(), IsOfPart)) data_.set_whole(true);
  return GoTo<&AssignBatch::Dispatch>();
}

ProcedurePtr AssignBatch::TransitionOf(const pb::BatchRegion& region) const {
  TransitRegionState::Options options;
  options.retain = data_.retain();
  if (!region.has_handed_state()) return TransitRegionState::Assign(InfoOf(region), options);
  RegionNode node = HandedNode(region);
  // S118 (older copy stays closed): the batch's order has ended, so its number is known if the earlier one was.
  const bool ordered = data_.ordered() && region.issued() != 0;
  node.issued = ordered ? pid().value() : region.issued();
  const bool refused = region.has_outcome() && region.outcome() == pb::FAILED_OPEN;
  return TransitRegionState::TakeOver(node, options, refused ? RefusalOf(region) : "", data_.server());
}

StepOutcome AssignBatch::Confirm(StepContext& ctx) {
  if (data_.regions_size() > 0) RATCHET_STEP(ShowOpened(ctx, IsOpened));
  HandAllOn(EnvOf(ctx));        // the regions that are left
  names_ = decltype(names_)();  // an ended procedure stays in memory for some time
  if (data_.others_size() == 0) return Done{};
  RATCHET_LOG(kInfo, "pid={} {} of {} regions are opened one by one", ctx.pid(), data_.others_size(), data_.total());
  std::vector<ProcedurePtr> assigns;
  for (const pb::BatchRegion& region : data_.others()) assigns.push_back(TransitionOf(region));
  data_.set_handed(true);
  return SpawnThen<&AssignBatch::End>(std::move(assigns));
}

StepOutcome AssignBatch::End(StepContext& /*ctx*/) { return Done{}; }

}  // namespace ratchet::master
