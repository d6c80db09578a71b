#include "master/procedures/server_crash.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/cluster_files.h"
#include "master/env/region_servers.h"
#include "master/procedures/replication_queue.h"
#include "master/procedures/split_wal.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/peer_directory.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"

namespace ratchet::master {

namespace {

// Shown as what the procedure waits for.
constexpr const char* kFenceWork = "the fence of the server's logs (the storage must give up its client first)";

}  // namespace

ProcedurePtr ServerCrash::Make(const ServerName& server) {
  pb::ServerCrashData data;
  data.set_server(server.ToString());
  return std::make_unique<ServerCrash>(std::move(data));
}

procedure::LockSet ServerCrash::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Server(data_.server()))};
}

std::string ServerCrash::Describe() const {
  return fmt::format("server={}, meta={}, logs={}{}", data_.server(), data_.carried_meta(), data_.logs_size(),
                     data_.was_leaving() ? ", it was asked to stop" : "");
}

void ServerCrash::OnRecovered(const procedure::EnvRef& env) {
  ServerDirectory& servers = env.As<MasterEnv>().servers;
  servers.AddCrashed(Server(), pid());
  if (data_.meta_log_split()) servers.SetMetaLogSplit(Server());
  if (data_.logs_split()) servers.SetLogsSplit(Server());
}

StepOutcome ServerCrash::Start(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  env.servers.AddCrashed(Server(), pid());
  const auto meta = env.regions.Get(kMetaEncodedName);
  data_.set_carried_meta(meta && meta->location == Server());
  data_.set_was_leaving(env.servers.WasLeaving(Server()));
  return GoTo(State::kFence);
}

StepOutcome ServerCrash::Fence(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const auto fenced = ctx.Once<Status>(kFenceWork, [&](std::function<void(Status)> done) {
    env.files.FenceLogs(Server(), data_.carried_meta(), std::move(done));
  });
  if (!fenced) return ctx.AwaitOnce();
  if (!fenced->ok()) return Retry{fenced->error(), std::nullopt};
  env.region_servers.Forget(Server());
  RATCHET_LOG(kInfo, "pid={} fenced {}", ctx.pid(), data_.server());
  return GoTo(State::kSeal);
}

StepOutcome ServerCrash::Seal(StepContext& ctx) {
  using Sealed = Result<std::vector<SealedLog>>;
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const auto sealed = ctx.Once<Sealed>("seal", [&](std::function<void(Sealed)> done) {
    EnvOf(ctx).files.SealLogs(Server(), data_.carried_meta(), std::move(done));
  });
  if (!sealed) return ctx.AwaitOnce();
  if (!sealed->ok()) return Retry{sealed->error(), std::nullopt};
  data_.clear_logs();
  for (const SealedLog& log : **sealed) *data_.add_logs() = ToData(log);
  RATCHET_LOG(kInfo, "pid={} sealed {} logs of {}", ctx.pid(), data_.logs_size(), data_.server());
  // Where meta was here at any time: its log first, because everything behind GET_REGIONS waits for meta, and meta may
  // have to wait for this log though it is said to be elsewhere.
  const bool any =
      std::any_of(sealed->value().begin(), sealed->value().end(), [](const SealedLog& log) { return log.meta; });
  return GoTo(data_.carried_meta() || any ? State::kSplitMetaLog : State::kAssignMeta);
}

std::vector<ProcedurePtr> ServerCrash::Splits(bool meta) const {
  std::vector<ProcedurePtr> splits;
  for (const pb::SealedLogData& log : data_.logs()) {
    if (log.meta() == meta) splits.push_back(SplitWal::Make(Server(), log));
  }
  return splits;
}

StepOutcome ServerCrash::SplitMetaLog(StepContext&) { return SpawnThen(State::kAssignMeta, Splits(/*meta=*/true)); }

StepOutcome ServerCrash::AssignMeta(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  data_.set_meta_log_split(true);
  env.servers.SetMetaLogSplit(Server());  // a transition of meta goes on by itself from here
  const auto meta = env.regions.Get(kMetaEncodedName);
  std::vector<ProcedurePtr> assign;
  if (meta && meta->location == Server() && !meta->owner.valid()) {
    assign.push_back(TransitRegionState::Assign(MetaRegionInfo(), {}));
    data_.set_assigned(data_.assigned() + 1);
  }
  return SpawnThen(State::kGetRegions, std::move(assign));
}

StepOutcome ServerCrash::GetRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  data_.set_regions(static_cast<std::uint32_t>(EnvOf(ctx).regions.OnServer(Server()).size()));
  RATCHET_LOG(kInfo, "pid={} {} had {} regions", ctx.pid(), data_.server(), data_.regions());
  return GoTo(State::kSplitLog);
}

StepOutcome ServerCrash::SplitLog(StepContext&) {
  if (RATCHET_MUTANT("master.assign_before_split")) return GoTo(State::kAssignRegions);
  std::vector<ProcedurePtr> splits = Splits(/*meta=*/false);
  if (!data_.meta_log_split()) {  // by a record of an earlier version
    for (ProcedurePtr& split : Splits(/*meta=*/true)) splits.push_back(std::move(split));
  }
  return SpawnThen(State::kAssignRegions, std::move(splits));
}

StepOutcome ServerCrash::AssignRegions(StepContext& ctx) {
  // Also when a new master begins here: without meta it would see no region at all.
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  // After a restart of the whole cluster its regions go back to the server at its address, which may be about to come.
  const bool retain = env.servers.FoundNoneOnline();
  auto ticket = ctx.TakeTicket(ServerDirectory::ServerAddedEvent());
  if (env.servers.MayComeBack(Server())) {
    constexpr Millis kLook{200};
    return Retry{Error(Code::kUnavailable, "the cluster was restarted, and the server at this address may come back"),
                 kLook, 0, std::move(ticket)};
  }
  data_.set_logs_split(true);
  // Marked first, looked at second: a procedure that ends its transition to this server shows first and looks second.
  env.servers.SetLogsSplit(Server());
  std::vector<ProcedurePtr> assigns;
  for (const RegionNode& node : env.regions.OnServer(Server())) {
    if (node.owner.valid()) continue;  // its procedure has just been woken, and goes on by itself
    // Also of a disabled table, whose assigning closes it: its edits are replayed, and it is nowhere.
    TransitRegionState::Options options;
    options.retain = retain;
    assigns.push_back(TransitRegionState::Assign(node.info, options));
  }
  data_.set_assigned(data_.assigned() + static_cast<std::uint32_t>(assigns.size()));
  return SpawnThen(State::kClaimReplicationQueues, std::move(assigns));
}

StepOutcome ServerCrash::ClaimQueues(StepContext& ctx) {
  const MasterEnv& env = EnvOf(ctx);
  env.peers.ForgetProgress(Server());
  std::vector<ProcedurePtr> claim;
  if (env.peers.ShipsAnything() && !RATCHET_MUTANT("master.claim_nothing"))
    claim.push_back(ClaimReplicationQueues::Make(data_.server(), /*first=*/true));
  return SpawnThen(State::kRetireLogs, std::move(claim));
}

StepOutcome ServerCrash::RetireLogs(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  std::vector<SealedLog> sealed;
  for (const pb::SealedLogData& log : data_.logs()) sealed.push_back(FromData(log));
  ClusterFiles& files = EnvOf(ctx).files;
  const bool keep = HasQueue(EnvOf(ctx), data_.server());
  if (Status retired = keep ? files.KeepLogs(Server(), sealed) : files.RetireLogs(Server(), sealed, ctx.epoch());
      !retired.ok()) {
    return Retry{retired.error(), std::nullopt};
  }
  return GoTo(State::kFinish);
}

// What a requested stop (S73) has come to, or a crash.
std::string ServerCrash::WhatWasDone() const {
  const char* how = data_.was_leaving() ? "left after a requested stop" : "recovered";
  if (data_.logs_size() == 0 && data_.assigned() == 0) return fmt::format("{}: no region, no log split", how);
  return fmt::format("{}: {} regions assigned, {} logs split", how, data_.assigned(), data_.logs_size());
}

StepOutcome ServerCrash::Finish(StepContext& ctx) {
  ctx.DeleteSystemRecord(std::string(kServerRecordPrefix) + data_.server());
  EnvOf(ctx).servers.Remove(Server());
  const std::string result = WhatWasDone();
  RATCHET_LOG(kInfo, "pid={} {}: {}", ctx.pid(), data_.server(), result);
  return Done{result};
}

}  // namespace ratchet::master
