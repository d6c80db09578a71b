#include "master/procedures/admin/drain_server.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/address_key.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/policy/server_choice.h"
#include "master/procedures/core/master_options.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

std::string DecommissionRecord(const ServerName& server) {
  return std::string(kDecommissionRecordPrefix) + AddressKey(server);
}

void ShowDecommissionRecord(MasterEnv& env, const ServerName& server) {
  env.decommissions.Show(server, env.executor->SystemRecord(DecommissionRecord(server)).value_or(""));
}

ProcedurePtr DrainServer::Make(const ServerName& server, const Options& options) {
  pb::DrainServerData data;
  data.set_server(server.ToString());
  data.set_offload(options.offload || options.and_stop);
  data.set_and_stop(options.and_stop);
  return std::make_unique<DrainServer>(std::move(data));
}

procedure::LockSet DrainServer::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Server(AddressKey(Server())))};
}

std::optional<procedure::PartsLeft> DrainServer::Parts() const {
  if (!data_.has_total()) return std::nullopt;
  return procedure::PartsLeft{data_.left(), data_.total()};
}

procedure::Description DrainServer::Describe() const {
  procedure::Description about;
  about.Add("server", data_.server());
  if (!data_.offload()) about.Note("only marked");
  if (data_.and_stop()) about.Note("then stopped");
  AddRegionsLeft(about, Parts());
  if (data_.moving_size() > 0) about.Note(fmt::format("{} in progress", data_.moving_size()));
  return about;
}

namespace {

Status RequireAnotherTaker(const MasterEnv& env, const ServerName& server) {
  const std::vector<ServerName> eligible = EligibleServers(env.servers, env.decommissions);
  const bool another =
      std::any_of(eligible.begin(), eligible.end(), [&server](const ServerName& each) { return each != server; });
  if (another || RATCHET_MUTANT("master.drain_the_last")) return Ok();
  return IllegalRequest(fmt::format(
      "server {} is the last one that can have regions: start another server, or undrain one (ratchet undrain)",
      server.ToString()));
}

}  // namespace

Status DrainServer::Check(const MasterEnv& env, const ServerName& server) {
  if (!env.servers.IsOnline(server)) {
    return IllegalRequest(
        fmt::format("server {} is not online ('ratchet servers' lists online servers)", server.ToString()));
  }
  if (Status another = RequireAnotherTaker(env, server); !another.ok()) return another;
  const Decommissions& marks = env.decommissions;
  if (!marks.Has(server) && marks.size() >= Decommissions::kMarksAtMost) {
    return IllegalRequest(
        fmt::format("{} servers are already decommissioned; undrain some (ratchet undrain)", marks.size()));
  }
  return Ok();
}

StepOutcome DrainServer::Mark(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status may = Check(env, Server()); !may.ok()) return EndFailed{may.error()};  // nothing was changed yet
  // Reserves first and checks again: if two workers drain the last two servers at once, at least one drain is refused.
  env.decommissions.Reserve(Server());
  if (Status another = RequireAnotherTaker(env, Server()); !another.ok()) {
    ShowDecommissionRecord(env, Server());  // restores the previous value
    return EndFailed{another.error()};
  }
  ctx.PutSystemRecord(DecommissionRecord(Server()), data_.server());
  return GoTo<&DrainServer::ShowMark>();
}

StepOutcome DrainServer::ShowMark(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  ShowDecommissionRecord(env, Server());
  RATCHET_LOG(kInfo, "pid={} server {} is decommissioned{}", ctx.pid(), data_.server(),
              data_.offload() ? "; moving its regions to other servers" : "");
  if (!data_.offload()) return Done{"decommissioned; its regions stay"};
  return GoTo<&DrainServer::MoveRegions>();
}

std::optional<StepOutcome> DrainServer::EndedEarly(const MasterEnv& env) const {
  if (!env.decommissions.IsMarked(Server())) {
    return Done{fmt::format("ended early: {} was undrained", data_.server())};
  }
  if (env.servers.IsOnline(Server())) return std::nullopt;
  return Done{fmt::format("{} has ended: its crash procedure opens its remaining regions elsewhere", data_.server())};
}

StepOutcome DrainServer::MoveRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = Server();
  RATCHET_STEP(EndedEarly(env));
  std::uint32_t left = 0;
  std::string waits_for;
  std::vector<RegionInfo> meta;
  std::vector<RegionInfo> others;
  for (const RegionNode& node : env.regions.OnServer(server)) {
    const bool at_rest = !node.owner.valid() && node.state != RegionState::kOpen && IsAtRest(node.state);
    if (at_rest) continue;  // a closed region keeps its last location, but the server does not have it
    ++left;
    if (node.owner.valid() || node.state != RegionState::kOpen) {
      if (waits_for.empty()) {
        waits_for = node.owner.valid() ? fmt::format("region {} is in transition by pid={}", node.encoded, node.owner)
                                       : fmt::format("region {} is {}", node.encoded, RegionStateText(node.state));
      }
    } else {
      (node.info.IsMeta() ? meta : others).push_back(node.info);
    }
  }
  data_.set_left(left);
  data_.set_total(std::max(data_.total(), left));
  if (left == 0) {
    if (data_.and_stop()) return GoTo<&DrainServer::StopServer>();
    return Done{fmt::format("drained: {} regions moved off", data_.total())};
  }
  if (EligibleServers(env.servers, env.decommissions).empty()) {
    return Retry{Error(Code::kUnavailable,
                       fmt::format("{} of {} regions left, and no other server can have them", left, data_.total())),
                 BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
  }
  const std::vector<RegionInfo>& movable = meta.empty() ? others : meta;
  if (movable.empty()) {
    return Retry{Error(Code::kUnavailable, fmt::format("{} of {} regions left; {}", left, data_.total(), waits_for)),
                 BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
  }
  std::vector<ProcedurePtr> moves;
  data_.clear_moving();
  for (const RegionInfo& region : movable) {
    if (data_.moving_size() == kMovesAtOnce) break;
    *data_.add_moving() = ToData(region);
    moves.push_back(TransitRegionState::Move(region, std::nullopt));
  }
  return SpawnThen<&DrainServer::ConfirmMoved>(std::move(moves));
}

StepOutcome DrainServer::ConfirmMoved(StepContext& /*ctx*/) {
  data_.clear_moving();
  return GoTo<&DrainServer::MoveRegions>();
}

// Each answer to a heartbeat carries the request to stop, also from a later master, so no order has to be settled.
StepOutcome DrainServer::StopServer(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = Server();
  auto ticket = ctx.TakeTicket(Membership::SettlementEvent(server));
  const bool online = env.servers.IsOnline(server);
  if (online && env.decommissions.IsMarked(server)) {
    env.decommissions.SetToStop(server, true);
    return Await{std::move(ticket), env.options.order_resend};
  }
  env.decommissions.SetToStop(server, false);
  if (online)
    return Done{fmt::format("drained: {} regions moved off; not stopped: the server was undrained", data_.total())};
  return Done{fmt::format("drained: {} regions moved off; the server has ended", data_.total())};
}

}  // namespace ratchet::master
