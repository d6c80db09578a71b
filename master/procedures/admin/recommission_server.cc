#include "master/procedures/admin/recommission_server.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/address_key.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/policy/server_choice.h"
#include "master/procedures/admin/drain_server.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

ProcedurePtr RecommissionServer::Make(const ServerName& server, const std::vector<std::string>& regions) {
  pb::RecommissionServerData data;
  data.set_server(server.ToString());
  for (const std::string& region : regions) data.add_left(region);
  data.set_total(static_cast<std::uint32_t>(regions.size()));
  return std::make_unique<RecommissionServer>(std::move(data));
}

procedure::LockSet RecommissionServer::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Server(AddressKey(Server())))};
}

procedure::Description RecommissionServer::Describe() const {
  procedure::Description about;
  about.Add("server", AddressKey(Server()));
  if (data_.total() > 0) about.Note(fmt::format("{} of {} regions to check", data_.left_size(), data_.total()));
  if (data_.moving_size() > 0) about.Note(fmt::format("{} in progress", data_.moving_size()));
  return about;
}

std::string RecommissionServer::WhatWasDone() const {
  if (data_.total() == 0) return "undrained";
  return fmt::format("undrained: {} of {} regions moved to it", data_.moved(), data_.total());
}

StepOutcome RecommissionServer::Unmark(StepContext& ctx) {
  ctx.DeleteSystemRecord(DecommissionRecord(Server()));
  return GoTo<&RecommissionServer::ShowMark>();
}

StepOutcome RecommissionServer::ShowMark(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  ShowDecommissionRecord(env, Server());
  RATCHET_LOG(kInfo, "pid={} server {} is no longer decommissioned", ctx.pid(), AddressKey(Server()));
  // Notifies a drain that waits for the end of a server at this address.
  for (const ServerName& server : env.servers.Online()) {
    if (server.SameAddress(Server())) env.executor->Wake(Membership::SettlementEvent(server));
  }
  if (data_.total() == 0) return Done{WhatWasDone()};
  return GoTo<&RecommissionServer::MoveRegions>();
}

StepOutcome RecommissionServer::MoveRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const std::vector<ServerName> eligible = EligibleServers(env.servers, env.decommissions);
  const auto target = std::find_if(eligible.begin(), eligible.end(),
                                   [this](const ServerName& server) { return server.SameAddress(Server()); });
  if (target == eligible.end()) {
    return Done{fmt::format("{}; no server at its address can have the others", WhatWasDone())};
  }
  std::vector<ProcedurePtr> moves;
  int looked_at = 0;
  data_.clear_moving();
  for (; looked_at < data_.left_size() && data_.moving_size() < kMovesAtOnce; ++looked_at) {
    const auto node = env.regions.Get(data_.left(looked_at));
    const bool movable = node && !node->owner.valid() && node->state == RegionState::kOpen && node->location != *target;
    if (!movable) continue;
    data_.add_moving(data_.left(looked_at));
    moves.push_back(TransitRegionState::Move(node->info, *target));
  }
  data_.mutable_left()->DeleteSubrange(0, looked_at);
  if (moves.empty()) return Done{WhatWasDone()};
  return SpawnThen<&RecommissionServer::ConfirmMoved>(std::move(moves));
}

StepOutcome RecommissionServer::ConfirmMoved(StepContext& ctx) {
  for (const std::string& region : data_.moving()) {
    const auto node = EnvOf(ctx).regions.Get(region);
    if (node && node->location && node->location->SameAddress(Server())) data_.set_moved(data_.moved() + 1);
  }
  data_.clear_moving();
  return GoTo<&RecommissionServer::MoveRegions>();
}

}  // namespace ratchet::master
