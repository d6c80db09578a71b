#include "master/rpc/ratchet_views.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/descriptors.h"
#include "common/model/codec.h"
#include "master/procedures/claims_of.h"
#include "master/rpc/problems.h"
#include "master/rpc/why_method.h"
#include "master/startup/master_logic.h"
#include "procedure/api/store.h"
#include "procedure/ops/held_up.h"
#include "procedure/ops/procedure_views.h"
#include "procedure/ops/why/chain.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

// A procedure with more attempts than this is shown as stuck.
constexpr std::uint32_t kStuckAttempts = 10;

// Adds the problems that do not resolve themselves soon, with their causes.
void FillProblems(const ServiceEnv& env, const ActiveParts& parts, rpb::GetStatusResponse& out) {
  const TimePoint now = env.gate.clock().Now();
  for (const ServerName& server : parts.logic->servers.Online()) {
    if (const auto hangs = env.storage.HangsFor(server, now)) {
      out.add_problem(fmt::format("{}: its storage has not answered for {} ms", server.ToString(), hangs->count()));
    }
    if (const auto why = env.storage.Refuses(server)) out.add_problem(fmt::format("{}: {}", server.ToString(), *why));
    if (const auto why = env.storage.LacksRoom(server)) out.add_problem(fmt::format("{}: {}", server.ToString(), *why));
  }
  const auto aged = [now](const std::string& text, TimePoint since) {
    const auto age = std::chrono::duration_cast<Millis>(now - since).count();
    return fmt::format("{} (for {})", text, host::WhyAge(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age))));
  };
  for (const auto& problem : env.clocks.Problems(parts.logic->servers.Online(), env.clock_limits.warning))
    out.add_problem(problem.since ? aged(problem.text, *problem.since) : problem.text);
  if (const auto low = env.pasts.LowDisk(parts.logic->servers.Online())) out.add_problem(aged(low->text, low->since));
  for (const auto& problem : env.unreached.Problems(now))
    out.add_problem(aged(fmt::format("{}; {}", problem.text, problem.verb), problem.since));
  const auto own = env.own_storage_hangs ? env.own_storage_hangs() : std::nullopt;
  if (own.has_value())
    out.add_problem(fmt::format("this master: its storage has not answered for {} ms", own->count()));
}

void FillDescriptors(const ServerName& process, const std::string& text, const DescriptorUse& use,
                     rpb::GetStatusResponse& out) {
  if (use.limit == 0) return;  // not reported yet
  auto& row = *out.add_descriptors();
  ToProto(process, *row.mutable_server());
  row.set_used(use.used);
  row.set_limit(use.limit);
  if (const auto few = DescriptorProblem(use)) out.add_problem(fmt::format("{}: {}", text, *few));
}

void FillActive(const ServiceEnv& env, const ActiveParts& parts, rpb::GetStatusResponse& out) {
  out.set_epoch(parts.epoch.value());
  for (const ServerName& server : parts.logic->servers.Online()) {
    const auto note = env.pasts.Get(server);
    if (!note) continue;
    if (note->fault_points_allowed) out.add_fault_points_allowed(server.ToString());
    FillDescriptors(server, server.ToString(), note->descriptors, out);
    if (note->security.has_value()) {
      *out.add_security() = *note->security;
      out.mutable_security()->rbegin()->set_process("region server " + server.ToString());
    }
    for (const std::string& trouble : note->troubles)
      out.add_problem(fmt::format("{}: {}", server.ToString(), trouble));
  }
  for (const ServerView& server : parts.logic->servers.List()) {
    ToProto(server.name, server.phase == ServerPhase::kOnline ? *out.add_live_server() : *out.add_dead_server());
  }
  if (const auto meta = parts.logic->regions.Get(kMetaEncodedName)) {
    const bool lost = meta->state == RegionState::kOpen && meta->location.has_value() &&
                      !parts.logic->servers.IsOnline(*meta->location);
    out.set_meta_state(lost ? "LOST" : std::string(RegionStateText(meta->state)));
    if (meta->location.has_value()) ToProto(*meta->location, *out.mutable_meta_server());
  }
  out.set_tables(static_cast<std::uint32_t>(parts.logic->tables.List().size()));
  std::uint32_t open = 0;
  std::uint32_t moving = 0;
  const auto online = parts.logic->servers.Online();
  const std::set<ServerName> live(online.begin(), online.end());
  // Only regions that may have a problem; all others are open at their location.
  std::vector<RegionNode> regions = parts.logic->regions.InTransition();
  for (const auto& [server, count] : parts.logic->regions.CountByServer()) {
    if (live.contains(server)) open += static_cast<std::uint32_t>(count);
  }
  for (const RegionNode& region : regions) {
    if (region.owner.valid()) ++moving;
    if (region.location.has_value() && live.contains(*region.location) && !IsServed(region, live) && open > 0) --open;
  }
  for (const ServerName& server : parts.logic->regions.Locations()) {
    if (live.contains(server)) continue;
    for (RegionNode& region : parts.logic->regions.OnServer(server)) {
      if (!region.owner.valid() && IsAtRest(region.state)) regions.push_back(std::move(region));
    }
  }
  out.set_regions(static_cast<std::uint32_t>(parts.logic->regions.size()));
  out.set_regions_open(open);
  out.set_regions_in_transition(moving);
  const procedure::ProcedureCounts procedures = parts.executor->Count(kStuckAttempts);
  out.set_procedures_unfinished(static_cast<std::uint32_t>(procedures.unfinished));
  out.set_procedures_stuck(static_cast<std::uint32_t>(procedures.stuck + CountRefused(parts, regions, kStuckAttempts)));
  const Clock& clock = env.gate.clock();
  for (const std::string& problem : FindProblems(parts, regions, clock.Now(), clock.WallMillis()))
    out.add_problem(problem);
  for (const auto& pause : parts.executor->Pauses()) out.add_pause(pause.ToString());
  for (const std::string& problem : parts.logic->reconciler.Problems()) out.add_problem(problem);
  const procedure::StoreMetrics store = parts.store->metrics();
  out.set_store_batches(store.batches);
  out.set_store_syncs(store.syncs);
  for (const std::string& line : host::HeldUp(*parts.executor, *parts.store)) out.add_problem(line);
  FillProblems(env, parts, out);
  for (const ServerName& backup : env.backup_masters()) ToProto(backup, *out.add_backup_master());
}

void FillActivationStep(const ActivationStepView& step, rpb::ActivationStep& out) {
  out.set_name(step.name);
  out.set_started_ms(static_cast<std::uint64_t>(step.started.count()));
  if (step.took.has_value()) out.set_took_ms(static_cast<std::uint64_t>(step.took->count()));
  out.set_detail(step.detail);
}

}  // namespace

void FillProcedure(const procedure::ProcedureInfo& info, rpb::ProcedureInfo& out) {
  host::FillProcedure(info, out);
  if (const auto setback = SetbackOf(info)) {
    out.set_last_error(setback->error);
    out.set_attempt(std::max(info.attempt, setback->times + 1));
  }
}

rpb::EndedProcedure MakeEnded(const procedure::ProcedureInfo& info, Epoch epoch, const std::string& master) {
  rpb::EndedProcedure ended;
  FillProcedure(info, *ended.mutable_procedure());
  for (const auto& entry : info.history) host::FillHistory(entry, *ended.mutable_procedure()->add_history());
  ended.set_root(info.root.value());
  ended.set_epoch(epoch.value());
  ended.set_master(master);
  return ended;
}

rpb::Failover MakeFailover(const MasterGate& gate, Epoch epoch) {
  rpb::Failover failover;
  failover.set_epoch(epoch.value());
  failover.set_master(gate.self().ToString());
  failover.set_elected_wall_ms(gate.active_since_ms());
  for (const ActivationStepView& step : gate.steps()) FillActivationStep(step, *failover.add_step());
  return failover;
}

rpb::GetStatusResponse MakeStatus(const ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  rpb::GetStatusResponse out;
  out.set_role(static_cast<rpb::GetStatusResponse::Role>(gate.role()));
  ToProto(gate.self(), *out.mutable_master());
  if (const auto active = gate.active_master()) ToProto(*active, *out.mutable_active_master());
  out.set_cluster_id(gate.cluster_id());
  out.set_version(gate.version());
  out.set_uptime_ms(static_cast<std::uint64_t>(gate.uptime().count()));
  if (env.info_port >= 0) out.set_info_port(static_cast<std::uint32_t>(env.info_port));
  out.set_came_again(env.past.count);
  if (env.past.count > 0) out.set_came_again_why(env.past.why);
  if (env.fault_points_allowed) out.add_fault_points_allowed("this master");
  FillDescriptors(gate.self(), "this master", DescriptorsInUse(), out);
  if (env.security) {
    *out.add_security() = env.security();
    out.mutable_security()->rbegin()->set_process("master " + gate.self().ToString());
  }
  for (const ActivationStepView& step : gate.steps()) FillActivationStep(step, *out.add_activation());
  if (env.client_versions) {
    for (const auto& [version, connections] : env.client_versions()) {
      auto& client = *out.add_client();
      client.set_version(version);
      client.set_connections(connections);
    }
  }
  for (const auto& [kind, text] : gate.problems()) out.add_problem(text);
  if (const auto parts = gate.Admit(Need::kRecovered); parts.ok()) FillActive(env, *parts, out);
  out.set_why(WhyLine(env));
  return out;
}

}  // namespace ratchet::master
