#include "master/procedures/reshape/reshape.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/proto/admin.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/table_directory.h"
#include "master/env/meta_table.h"
#include "master/policy/placement.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/archive_regions.h"
#include "master/procedures/core/build_regions.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/region_plan.h"
#include "master/procedures/core/remote_order.h"
#include "master/procedures/table/flush_table.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr std::uint32_t kMostFailures = 5;  // refused builds in a row
constexpr int kAvoided = 4;
// Time for the flush before the closes. It only makes them shorter; meanwhile a parent whose server dies stays closed.
constexpr Millis kFlushPatience{2'000};

RegionState StateIn(const pb::RegionView& view) {
  return RegionStateFromNumber(static_cast<int>(view.state())).value_or(RegionState::kOffline);
}

pb::RegionView ToView(const RegionNode& node) {
  pb::RegionView view;
  *view.mutable_region() = ToData(node.info);
  view.set_encoded_name(node.encoded);
  view.set_state(static_cast<std::uint32_t>(node.state));
  if (node.location) view.set_location(node.location->ToString());
  if (node.last_host) view.set_last_host(node.last_host->ToString());
  view.set_open_sequence(node.open_sequence);
  view.set_transition(node.reserved);  // S65 (transition number reserved first)
  view.set_open_number(node.open_number.value());
  view.set_schema_number(node.schema_number);
  view.set_build_number(node.build_number);
  if (node.served != 0) view.set_served(node.served);
  if (node.flushed != 0) view.set_flushed(node.flushed);
  return view;
}

// Returns the server that had the first parent.
std::optional<ServerName> FormerServer(const pb::ReshapeData& data) {
  return MaybeServerFromData(data.parents(0).last_host());
}

Result<TableNode> TableOfParents(MasterEnv& env, const pb::ReshapeData& data) {
  const RegionInfo parent = FromData(data.parents(0).region());
  const auto table = env.tables.Get(parent.table);
  if (!table) return TableNotFound(parent.table);
  return *table;
}

std::vector<std::string> EncodedChildren(const pb::ReshapeData& data) {
  std::vector<std::string> encoded;
  for (const RegionInfo& child : ChildrenOf(data)) encoded.push_back(child.encoded_name());
  return encoded;
}

}  // namespace

RegionNode NodeOfParent(const pb::RegionView& view, ProcId owner) {
  RegionNode node;
  node.info = FromData(view.region());
  node.state = StateIn(view);
  node.location = MaybeServerFromData(view.location());
  node.last_host = MaybeServerFromData(view.last_host());
  node.open_sequence = view.open_sequence();
  node.transition = view.transition();
  node.open_number = ProcId(view.open_number());
  node.schema_number = view.schema_number();
  node.build_number = view.build_number();
  node.served = view.served();
  node.flushed = view.flushed();
  node.owner = owner;
  return node;
}

std::string EncodedNameOfParent(const pb::RegionView& view) {
  return view.has_encoded_name() ? view.encoded_name() : FromData(view.region()).encoded_name();
}

RegionNode NodeOfChild(const RegionInfo& child, RegionState state, ProcId owner) {
  RegionNode node;
  node.info = child;
  node.state = state;
  node.owner = owner;
  return node;
}

std::vector<RegionInfo> ParentsOf(const pb::ReshapeData& data) {
  std::vector<RegionInfo> parents;
  for (const pb::RegionView& parent : data.parents()) parents.push_back(FromData(parent.region()));
  return parents;
}

std::vector<RegionInfo> ChildrenOf(const pb::ReshapeData& data) {
  std::vector<RegionInfo> children;
  for (const pb::Region& child : data.children()) children.push_back(FromData(child));
  return children;
}

Claims ReshapeClaims(const pb::ReshapeData& data) {
  Claims claims;
  claims.regions = ParentsOf(data);
  for (const pb::Region& child : data.children()) claims.regions.push_back(FromData(child));
  return claims;
}

procedure::LockSet ReshapeLocks(const pb::ReshapeData& data, const std::vector<RegionInfo>& children) {
  procedure::LockSet locks;
  if (data.released()) return locks;
  const auto add = [&locks](const TableName& table, const std::string& encoded) {
    locks.Add(procedure::Exclusive(procedure::ResourceKey::Region(table.ToString(), encoded)));
  };
  for (const pb::RegionView& parent : data.parents()) add(FromData(parent.region()).table, EncodedNameOfParent(parent));
  for (const RegionInfo& child : children) add(child.table, child.encoded_name());
  return locks;
}

Status CheckReshapeBypass(const pb::ReshapeData& data) {
  if (!data.has_built() || data.released()) return Ok();
  return CommitInProgress();
}

Status OwnRegions(MasterEnv& env, pb::ReshapeData& data, ProcId pid, RegionState parents_state,
                  RegionState children_state) {
  for (pb::RegionView& view : *data.mutable_parents()) {
    const std::string encoded = EncodedNameOfParent(view);
    const auto node = env.regions.Get(encoded);
    if (!node) return UnknownRegion(encoded);
    const bool mine = node->owner == pid;
    if (!mine && node->state != RegionState::kOpen) {
      return IllegalRequest(fmt::format("region {} is {}, not OPEN", encoded, RegionStateText(node->state)));
    }
    if (!env.regions.Own(encoded, pid)) return RegionInTransition(encoded, fmt::format("pid={}", node->owner));
    (void)env.regions.Update(encoded, [parents_state](RegionNode& shown) { shown.state = parents_state; });
    view = ToView(*env.regions.Get(encoded));
    view.set_last_host(view.location());  // preferred server of the children
  }
  for (const RegionInfo& child : ChildrenOf(data)) env.regions.Restore(NodeOfChild(child, children_state, pid));
  data.set_begun(true);
  return Ok();
}

void GiveBackRegions(MasterEnv& env, const pb::ReshapeData& data, ProcId pid) {
  for (const std::string& child : EncodedChildren(data)) {
    const auto node = env.regions.Get(child);
    if (node && node->owner == pid) env.regions.Remove(child);
  }
  for (const pb::RegionView& view : data.parents()) {
    const std::string encoded = EncodedNameOfParent(view);
    const auto node = env.regions.Get(encoded);
    if (!node || node->owner != pid) continue;
    (void)env.regions.Update(encoded, [](RegionNode& shown) { shown.state = RegionState::kOpen; });
    env.regions.Disown(encoded, pid);
    // If the crash procedure looked before, it left the region to this procedure. If the master dies before the
    // assignment is durable, the next master finds the unassigned region at its start.
    const bool lost = node->location && env.servers.SettlementOf(*node->location, encoded) == SettlementState::kSettled;
    if (!lost || !env.regions.Own(encoded, pid)) continue;
    (void)env.regions.Update(encoded, [](RegionNode& shown) {
      shown.state = RegionState::kAbnormallyClosed;
      shown.location.reset();
    });
    env.regions.Disown(encoded, pid);
    env.executor->SubmitAsync(TransitRegionState::Assign(node->info, {}), {}, [](const Result<ProcId>&) {});
  }
}

void RestoreReshape(MasterEnv& env, const pb::ReshapeData& data, ProcId pid, RegionState children_state) {
  if (!data.begun() || data.committed() || data.released()) return;
  for (const pb::RegionView& view : data.parents()) env.regions.Restore(NodeOfParent(view, pid));
  for (const RegionInfo& child : ChildrenOf(data)) env.regions.Restore(NodeOfChild(child, children_state, pid));
}

std::vector<ProcedurePtr> FlushParents(const pb::ReshapeData& data) {
  std::vector<ProcedurePtr> orders;
  for (const pb::RegionView& view : data.parents())
    orders.push_back(FlushRegion::MakeOptional(view.region(), view.location(), kFlushPatience));
  return orders;
}

std::vector<ProcedurePtr> CloseParents(const pb::ReshapeData& data) {
  std::vector<ProcedurePtr> closes;
  const bool several = data.parents_size() > 1;
  for (const RegionInfo& parent : ParentsOf(data))
    closes.push_back(TransitRegionState::UnassignForReshape(parent, several));
  return closes;
}

bool ReadCloseResults(StepContext& ctx, pb::ReshapeData& data) {
  MasterEnv& env = EnvOf(ctx);
  std::map<std::string, pb::OrderResult> results;  // by encoded name, because children end in any order
  for (const auto& child : ctx.children()) {
    pb::OrderResult result = ReadOrderResult(child.result);
    results[result.encoded_region()] = std::move(result);
  }
  data.set_closed(true);
  for (pb::RegionView& view : *data.mutable_parents()) {
    const std::string encoded = EncodedNameOfParent(view);
    const pb::OrderResult& result = results[encoded];
    const bool closed = result.outcome() == pb::CLOSED;
    const bool lost = result.outcome() == pb::SERVER_CRASHED;
    if (!closed) {
      data.set_closed(false);
      data.set_why(fmt::format("region {} was not closed: {}", encoded,
                               lost ? "its server has died" : "an operator has ended its close"));
    }
    if (result.has_transition()) view.set_transition(result.transition());
    const auto node = env.regions.Get(encoded);
    if (result.has_reopened()) {  // the region is already open elsewhere, also after a restart of the master
      view = result.reopened();
      if (!node || node->owner != ctx.pid()) continue;
      const RegionNode open = NodeOfParent(view, ctx.pid());
      (void)env.regions.Update(encoded, [&open](RegionNode& shown) {
        shown.state = open.state;
        shown.location = open.location;
        shown.last_host = open.last_host;
        shown.open_sequence = open.open_sequence;
        shown.transition = open.transition;
        shown.open_number = open.open_number;
        shown.schema_number = open.schema_number;
      });
      continue;
    }
    // An operator ended the child: the region is in the state that the child found or left, and a server may have it.
    if (!(closed || lost) || !node || node->owner != ctx.pid()) continue;
    const RegionState state = closed ? RegionState::kOffline : RegionState::kAbnormallyClosed;
    view.set_state(static_cast<std::uint32_t>(state));
    view.clear_location();
    (void)env.regions.Update(encoded, [&](RegionNode& shown) {
      shown.state = state;
      shown.location.reset();
      shown.transition = view.transition();
    });
  }
  return data.closed();
}

std::optional<StepOutcome> MakeChildDirectories(StepContext& ctx, const pb::ReshapeData& data) {
  MasterEnv& env = EnvOf(ctx);
  const auto table = TableOfParents(env, data);
  if (!table.ok()) return Retry{table.error(), std::nullopt};
  return ActUntilDone(ctx, fmt::format("making directories of new regions in data/{}", table->directory),
                      [directory = table->directory, encoded = EncodedChildren(data)](ClusterFiles& files) {
                        return files.MakeRegionDirectories(directory, encoded);
                      });
}

std::optional<StepOutcome> ChooseBuilder(StepContext& ctx, pb::ReshapeData& data) {
  MasterEnv& env = EnvOf(ctx);
  auto ticket = ctx.TakeTicket(Membership::ServerAddedEvent());
  PlacementRequest request;
  request.encoded = EncodedChildren(data).front();
  request.target = FormerServer(data);
  for (const std::string& server : data.avoid()) request.avoid.push_back(ServerFromData(server));
  const bool avoided =
      request.target && std::find(request.avoid.begin(), request.avoid.end(), *request.target) != request.avoid.end();
  if (avoided) request.target.reset();
  const auto chosen = env.placement.Choose(request, env.servers.Online(), LoadsOf(env));
  env.placement.Settled(request.encoded);
  if (!chosen) return Await{std::move(ticket), std::nullopt};
  data.set_worker(chosen->ToString());
  return std::nullopt;
}

ProcedurePtr BuildChildren(StepContext& ctx, const pb::ReshapeData& data) {
  const auto table = EnvOf(ctx).tables.Get(FromData(data.parents(0).region()).table);
  return BuildRegions::Make(ParentsOf(data), ChildrenOf(data), data.worker(), table ? table->schema_number : 0);
}

BuildVerdict ReadBuildResult(StepContext& ctx, pb::ReshapeData& data) {
  const pb::OrderResult result = ResultOfOrder(ctx);
  hbase::pb::BuildRegionsResult built;
  if (result.outcome() == pb::DONE && built.ParseFromString(result.payload())) {
    if (built.not_clean().empty()) {
      data.set_built(ctx.children().front().pid.value());
      data.set_sequence(built.sequence());
      return BuildVerdict::kBuilt;
    }
    data.set_why(built.not_clean());
    return BuildVerdict::kNotClean;
  }
  RATCHET_LOG(kWarn, "pid={} {} could not build the new regions: {} {}", ctx.pid(), data.worker(), result.error_class(),
              result.error_message());
  data.add_avoid(data.worker());
  if (data.avoid_size() > kAvoided) data.mutable_avoid()->DeleteSubrange(0, data.avoid_size() - kAvoided);
  data.clear_worker();
  if (result.outcome() != pb::FAILED) return BuildVerdict::kAgain;  // the server died; the regions may be fine
  data.set_failures(data.failures() + 1);
  if (data.failures() < kMostFailures) return BuildVerdict::kAgain;
  data.set_why(fmt::format("{} servers in a row could not build the new regions; last error: {}", data.failures(),
                           result.error_message()));
  return BuildVerdict::kNotClean;
}

std::vector<ProcedurePtr> AssignChildren(const pb::ReshapeData& data) {
  std::vector<ProcedurePtr> assigns;
  TransitRegionState::Options options;
  options.target = FormerServer(data);
  for (const RegionInfo& child : ChildrenOf(data)) assigns.push_back(TransitRegionState::Assign(child, options));
  return assigns;
}

std::vector<ProcedurePtr> ReopenParents(MasterEnv& env, const pb::ReshapeData& data, ProcId pid) {
  std::vector<ProcedurePtr> assigns;
  TransitRegionState::Options options;
  options.target = FormerServer(data);
  for (const pb::RegionView& parent : data.parents()) {
    env.regions.Disown(EncodedNameOfParent(parent), pid);
    assigns.push_back(TransitRegionState::Assign(FromData(parent.region()), options));
  }
  return assigns;
}

void LogGivenUp(StepContext& ctx, const std::string& subject, const pb::ReshapeData& data) {
  RATCHET_LOG(kWarn, "pid={} rolls back {}: {}", ctx.pid(), subject, data.why());
}

Error RolledBack(const std::string& subject, std::string_view open_again, const pb::ReshapeData& data) {
  return Error(Code::kAborted, fmt::format("{} was rolled back, and {}: {}", subject, open_again, data.why()));
}

std::optional<StepOutcome> RemoveChildren(StepContext& ctx, const pb::ReshapeData& data) {
  const std::vector<std::string> children = EncodedChildren(data);
  RATCHET_STEP(ArchiveRegions(ctx, ParentsOf(data).front().table, children));
  MasterEnv& env = EnvOf(ctx);
  for (const std::string& child : children) {
    const auto node = env.regions.Get(child);
    if (node && IsBeingMade(node->state)) env.regions.Remove(child);
  }
  return std::nullopt;
}

}  // namespace ratchet::master
