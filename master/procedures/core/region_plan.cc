#include "master/procedures/core/region_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/policy/server_choice.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

RegionState RegionStateOf(const pb::TransitRegionStateData& data) {
  return RegionStateFromNumber(static_cast<int>(data.region_state())).value_or(RegionState::kOffline);
}

PlacementRequest WhereTo(const pb::TransitRegionStateData& data) {
  PlacementRequest request;
  const RegionInfo region = FromData(data.region());
  request.encoded = region.encoded_name();
  request.table = region.table.ToString();
  request.target = MaybeServerFromData(data.target());
  request.last_host = MaybeServerFromData(data.last_host());
  request.retain = data.retain();
  for (const std::string& server : data.avoid()) request.avoid.push_back(ServerFromData(server));
  if (data.force_new_plan() && request.last_host) request.avoid.push_back(*request.last_host);
  return request;
}

ServerNames ServersFor(MasterEnv& env, const pb::TransitRegionStateData& data, const PlacementRequest& request) {
  ServerNames assignable = env.placement.assignable().Get(env.servers, env.decommissions);
  if (!FromData(data.region()).table.IsSystem()) return assignable;
  const bool named =
      request.target && std::find(assignable->begin(), assignable->end(), *request.target) != assignable->end();
  if (named) return assignable;
  return std::make_shared<const std::vector<ServerName>>(
      NewestAssignableServers(env.servers, env.decommissions, request.avoid));
}

Placement::LoadOf LoadsOf(const MasterEnv& env) {
  return [&env](const std::vector<ServerName>& servers) { return env.regions.CountsAt(servers); };
}

void PlanMove(MasterEnv& env, pb::TransitRegionStateData& data) {
  if (data.type() != pb::MOVE || data.has_target()) return;
  PlacementRequest request = WhereTo(data);
  request.avoid.push_back(ServerFromData(data.location()));
  const auto planned = env.placement.Choose(request, *ServersFor(env, data, request), LoadsOf(env));
  if (planned && planned->ToString() != data.location()) data.set_target(planned->ToString());
}

bool HasSchema(const MasterEnv& env, const pb::TransitRegionStateData& data) {
  const auto table = env.tables.Get(FromData(data.region()).table);
  return !table || table->schema != nullptr;
}

bool IsOpenBelow(const RegionNode& node, std::uint64_t number) {
  return node.state == RegionState::kOpen && node.schema_number < number;
}

std::uint64_t DescriptorOf(const MasterEnv& env, const pb::TransitRegionStateData& data) {
  const auto table = env.tables.Get(FromData(data.region()).table);
  return table && table->schema != nullptr ? table->schema_number : 0;
}

// S84 (give up a region by name): only if no server has the region, that is, all orders are settled and the logs of its
// previous servers are split.
ProcId GivenUpBy(const MasterEnv& env, const pb::TransitRegionStateData& data) {
  if (data.failed_opens() == 0 || !data.location().empty()) return {};
  const ProcId by = env.regions.ReleaseRequestedBy(FromData(data.region()).encoded_name());
  if (!by.valid() || env.executor->GetResult(by).status != procedure::ProcedureResult::Status::kRunning) return {};
  return by;
}

void ReportIfWentBack(const MasterEnv& env, const std::string& encoded, const std::string& error_class,
                      const std::string& error_message) {
  if (error_class == exception::kStoreWentBack && env.went_back)
    env.went_back(Error(Code::kWentBack, fmt::format("region {}: {}", encoded, error_message)));
}

// Returns why the region ended in another state than requested.
std::string ClosedBecause(const pb::TransitRegionStateData& data) {
  const std::string table = FromData(data.region()).table.ToString();
  switch (data.type()) {
    case pb::MOVE: return fmt::format("nothing moved: table {} is being disabled, and the region is closed", table);
    case pb::ASSIGN:
    case pb::REOPEN: return fmt::format("not opened: table {} is being disabled, and the region is closed", table);
    default: return {};
  }
}

std::string OpenedBecause(const pb::TransitRegionStateData& data) {
  if (data.type() != pb::MOVE || !data.has_target() || data.target() == data.location()) return {};
  return fmt::format("not moved to {}, which cannot take the region: it is open on {}", data.target(), data.location());
}

}  // namespace ratchet::master
