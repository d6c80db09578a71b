#include "master/procedures/crash/server_crash.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/registrations.h"
#include "master/env/cluster_files.h"
#include "master/env/region_servers.h"
#include "master/procedures/assignment/assign_regions.h"
#include "master/procedures/core/act_on_files.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

namespace {

// Displayed as the reason why the procedure waits.
constexpr const char* kFenceWork = "the fence of the server's logs (the storage must give up its client first)";

}  // namespace

ProcedurePtr ServerCrash::Make(const ServerName& server, const std::string& why) {
  pb::ServerCrashData data;
  data.set_server(server.ToString());
  if (!why.empty()) data.set_why(why);
  return std::make_unique<ServerCrash>(std::move(data));
}

procedure::LockSet ServerCrash::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Server(data_.server()))};
}

procedure::Description ServerCrash::Describe() const {
  procedure::Description about;
  about.Add("server", data_.server()).Add("meta", data_.carried_meta()).Add("logs", data_.logs_size());
  if (data_.was_leaving()) about.Note("it was asked to stop");
  if (data_.has_why()) about.Note(data_.why());
  return about;
}

void ServerCrash::OnRecovered(const procedure::EnvRef& env) {
  Membership& servers = env.As<MasterEnv>().servers;
  env.As<MasterEnv>().registrations.RaiseStartCode(Server());
  servers.AddCrashed(Server(), pid());
  if (data_.meta_log_split()) servers.SetMetaLogSplit(Server());
  servers.SetNamedRegions(Server(), NamedRegions());
  if (data_.logs_split()) servers.SetLogsSplit(Server());
}

StepOutcome ServerCrash::Start(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  env.registrations.RaiseStartCode(Server());
  env.servers.AddCrashed(Server(), pid());
  const auto meta = env.regions.Get(kMetaEncodedName);
  data_.set_carried_meta(meta && meta->location == Server());
  data_.set_was_leaving(env.servers.WasLeaving(Server()));
  return GoTo<&ServerCrash::Fence>();
}

// A server is recorded only after its log directory was seen alive (S58: server name proven by storage), and the last
// step of this procedure removes the record.
bool ServerCrash::IsRegistered(StepContext& ctx) const {
  const auto record = EnvOf(ctx).executor->SystemRecord(std::string(kServerRecordPrefix) + data_.server());
  return record.has_value() && !RATCHET_MUTANT("log.missing_is_none");
}

Error ServerCrash::LogsMissing(const Error& error) const {
  return Error(
      Code::kUnavailable,
      fmt::format(
          "the logs of {} are missing: {}. Restore the directory. If it is lost, make sure that the server's process "
          "has ended, create an empty directory wals/{}-splitting, and in it the files that the splits then name",
          data_.server(), error.message(), data_.server()));
}

StepOutcome ServerCrash::Fence(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto fenced = ctx.AsyncCall<Status>(kFenceWork, [&](std::function<void(Status)> done) {
    env.files.FenceLogs(Server(), data_.carried_meta(), std::move(done));
  });
  if (!fenced) return ctx.AwaitAsync();
  if (!fenced->ok() && fenced->error().code() == Code::kNotFound) {
    if (IsRegistered(ctx)) return Retry{LogsMissing(fenced->error()), std::nullopt};
    RATCHET_LOG(kInfo, "pid={} {} was never recorded and has no logs", ctx.pid(), data_.server());
  } else if (!fenced->ok()) {
    return Retry{fenced->error(), std::nullopt};
  }
  env.region_servers.Forget(Server());
  RATCHET_LOG(kInfo, "pid={} fenced {}", ctx.pid(), data_.server());
  return GoTo<&ServerCrash::Seal>();
}

StepOutcome ServerCrash::Seal(StepContext& ctx) {
  using Sealed = Result<std::vector<SealedLog>>;
  const auto sealed = ctx.AsyncCall<Sealed>("seal", [&](std::function<void(Sealed)> done) {
    EnvOf(ctx).files.SealLogs(Server(), {IsRegistered(ctx), data_.carried_meta()}, std::move(done));
  });
  if (!sealed) return ctx.AwaitAsync();
  const bool missing = !sealed->ok() && sealed->error().code() == Code::kNotFound;
  if (missing && IsRegistered(ctx)) return Retry{LogsMissing(sealed->error()), std::nullopt};
  if (!sealed->ok() && !missing) return Retry{sealed->error(), std::nullopt};
  data_.clear_logs();
  if (missing) return data_.carried_meta() ? GoTo<&ServerCrash::SplitMetaLog>() : GoTo<&ServerCrash::AssignMeta>();
  for (const SealedLog& log : **sealed) {
    pb::SealedLogData& data = *data_.add_logs();
    data = ToData(log);
    if (!log.regions) continue;
    pb::LogIndex& index = *data.mutable_index();  // also if the log names no region
    for (const std::string& region : *log.regions) index.add_regions(region);
  }
  RATCHET_LOG(kInfo, "pid={} sealed {} logs of {}", ctx.pid(), data_.logs_size(), data_.server());
  // If the server ever carried meta, its meta log is split first: every step after GET_REGIONS waits for meta, and meta
  // may wait for this log even if its location is another server.
  const bool any =
      std::any_of(sealed->value().begin(), sealed->value().end(), [](const SealedLog& log) { return log.meta; });
  return data_.carried_meta() || any ? GoTo<&ServerCrash::SplitMetaLog>() : GoTo<&ServerCrash::AssignMeta>();
}

std::vector<ProcedurePtr> ServerCrash::Splits(bool meta) const {
  std::vector<ProcedurePtr> splits;
  for (const pb::SealedLogData& log : data_.logs()) {
    const bool wanted = meta || !RATCHET_MUTANT("master.assign_before_split");
    if (log.meta() != meta || !wanted) continue;
    pb::SealedLogData seal = log;
    seal.clear_index();
    splits.push_back(SplitWal::Make(Server(), seal));
  }
  return splits;
}

std::optional<RegionNames> ServerCrash::NamedRegions() const {
  std::optional<RegionNames> named;
  for (const pb::SealedLogData& log : data_.logs()) {
    if (log.meta()) continue;  // split before SPLIT_LOG
    if (!log.has_index() && !RATCHET_MUTANT("seal.index_forgotten")) return std::nullopt;
    if (!named) named.emplace();
    named->insert(log.index().regions().begin(), log.index().regions().end());
  }
  return named;
}

// S171 (seal makes an index): the splits have nothing for these regions. Their assignments are procedures of their own.
// SPLIT_LOG would wait for children, and a child may wait for a lock whose holder waits for ASSIGN_REGIONS:
// DisableTable keeps its lock until regions that a log names are closed. If this master dies before an assignment is
// durable, ASSIGN_REGIONS finds the region.
void ServerCrash::AssignUnnamed(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto named = NamedRegions();
  const bool known = named.has_value();
  // Marks the server first and looks at the regions second, like ASSIGN_REGIONS.
  env.servers.SetNamedRegions(Server(), std::move(named));
  if (!known) return;
  const std::uint32_t before = data_.assigned();
  std::vector<ProcedurePtr> assigns = Assignments(env);
  RATCHET_LOG(kInfo, "pid={} {} of {} regions of {} need no split", ctx.pid(), data_.assigned() - before,
              data_.regions(), data_.server());
  for (ProcedurePtr& assign : assigns) env.executor->SubmitAsync(std::move(assign), {}, [](const Result<ProcId>&) {});
}

std::vector<ProcedurePtr> ServerCrash::Assignments(MasterEnv& env) {
  std::vector<RegionNode> regions = env.regions.OnServer(Server());
  std::erase_if(regions, [&](const RegionNode& node) {
    if (node.owner.valid()) return true;  // the region's procedure has just been woken, and continues
    return env.servers.SettlementOf(Server(), node.encoded) != SettlementState::kSettled;
  });
  data_.set_assigned(data_.assigned() + static_cast<std::uint32_t>(regions.size()));
  // A region of a disabled table is assigned too: this replays its edits and closes it. After a restart of the whole
  // cluster the regions return to the server at the same address.
  return AssignAll(env, regions, env.servers.FoundNoneOnline());
}

StepOutcome ServerCrash::SplitMetaLog(StepContext&) {
  return SpawnThen<&ServerCrash::AssignMeta>(Splits(/*meta=*/true));
}

StepOutcome ServerCrash::AssignMeta(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  data_.set_meta_log_split(true);
  env.servers.SetMetaLogSplit(Server());  // a waiting transition of meta continues from here
  const auto meta = env.regions.Get(kMetaEncodedName);
  std::vector<ProcedurePtr> assign;
  if (meta && meta->location == Server() && !meta->owner.valid()) {
    assign.push_back(TransitRegionState::Assign(MetaRegionInfo(), {}));
    data_.set_assigned(data_.assigned() + 1);
  }
  return SpawnThen<&ServerCrash::GetRegions>(std::move(assign));
}

StepOutcome ServerCrash::GetRegions(StepContext& ctx) {
  data_.set_regions(static_cast<std::uint32_t>(EnvOf(ctx).regions.OnServer(Server()).size()));
  RATCHET_LOG(kInfo, "pid={} {} had {} regions", ctx.pid(), data_.server(), data_.regions());
  return GoTo<&ServerCrash::SplitLog>();
}

StepOutcome ServerCrash::SplitLog(StepContext& ctx) {
  std::vector<ProcedurePtr> splits = Splits(/*meta=*/false);
  if (!data_.meta_log_split()) {  // in a record of an earlier version
    for (ProcedurePtr& split : Splits(/*meta=*/true)) splits.push_back(std::move(split));
  }
  if (!splits.empty()) AssignUnnamed(ctx);
  return SpawnThen<&ServerCrash::AssignRegions>(std::move(splits));
}

StepOutcome ServerCrash::AssignRegions(StepContext& ctx) {
  // A new master that resumes at this step needs meta too, because without meta it knows no regions.
  MasterEnv& env = EnvOf(ctx);
  auto ticket = ctx.TakeTicket(Membership::ServerAddedEvent());
  if (env.servers.MayComeBack(Server())) {
    constexpr Millis kLook{200};
    return Retry{Error(Code::kUnavailable, "the cluster was restarted, and the server at this address may return"),
                 kLook, 0, std::move(ticket)};
  }
  data_.set_logs_split(true);
  for (pb::SealedLogData& log : *data_.mutable_logs()) log.clear_index();  // no longer needed
  // Marks the server first and looks at the regions second: a transition to this server does the reverse, so one of the
  // two sees the other.
  env.servers.SetLogsSplit(Server());
  std::vector<ProcedurePtr> assigns = Assignments(env);
  return SpawnThen<&ServerCrash::ClaimQueues>(std::move(assigns));
}

StepOutcome ServerCrash::ClaimQueues(StepContext& ctx) {
  const MasterEnv& env = EnvOf(ctx);
  env.peers.ForgetProgress(Server());
  std::vector<ProcedurePtr> claim;
  if (env.peers.ShipsAnything() && !RATCHET_MUTANT("master.claim_nothing"))
    claim.push_back(ClaimReplicationQueues::Make(data_.server(), /*first=*/true));
  return SpawnThen<&ServerCrash::RetireLogs>(std::move(claim));
}

StepOutcome ServerCrash::RetireLogs(StepContext& ctx) {
  std::vector<SealedLog> sealed;
  for (const pb::SealedLogData& log : data_.logs()) sealed.push_back(FromData(log));
  const bool keep = HasQueue(EnvOf(ctx), data_.server());
  const auto retire = [server = Server(), sealed = std::move(sealed), keep, epoch = ctx.epoch()](ClusterFiles& files) {
    return keep ? files.KeepLogs(server, sealed) : files.RetireLogs(server, sealed, epoch);
  };
  const std::string what =
      fmt::format("moving wals/{}-splitting to {}", data_.server(), keep ? "oldWALs" : "the archive");
  RATCHET_STEP(ActUntilDone(ctx, what, retire));
  return GoTo<&ServerCrash::Finish>();
}

// Describes the result of a requested stop (S73: orderly stop) or of a crash.
std::string ServerCrash::WhatWasDone() const {
  const char* how = data_.was_leaving() ? "ended after a requested stop" : "recovered";
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
