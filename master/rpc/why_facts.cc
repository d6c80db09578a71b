#include "master/rpc/why_facts.h"

#include <algorithm>
#include <set>

#include "common/model/region_state.h"
#include "master/dispatch/remote_dispatcher.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/claims_of.h"
#include "master/rpc/problems.h"
#include "master/startup/master_logic.h"
#include "procedure/api/store.h"
#include "procedure/ops/host_service.h"
#include "procedure/ops/why/chain.h"

namespace ratchet::master {
namespace {

std::int64_t Since(TimePoint then, TimePoint now) {
  return std::max<std::int64_t>(0, std::chrono::duration_cast<Millis>(now - then).count());
}

void CollectProcedures(const ActiveParts& parts, MasterFacts& facts) {
  host::CollectProcedureFacts(*parts.executor, facts);
  for (const auto& [pid, info] : facts.procedures) {
    if (const auto setback = SetbackOf(info)) facts.setbacks[pid] = {setback->error, setback->times >= kStuckRefusals};
    if (info.type == TransitRegionState::kTypeName) facts.transitions.insert(pid);
    if (auto server = OrderTarget(info)) facts.order_targets[pid] = *std::move(server);
  }
}

void CollectServers(const ServiceEnv& env, const ActiveParts& parts, TimePoint now, MasterFacts& facts) {
  for (const ServerView& view : parts.logic->servers.List()) {
    WhyServer& server = facts.servers[view.name.ToString()];
    server.online = view.phase == ServerPhase::kOnline;
    if (view.last_heartbeat != TimePoint{}) server.silent_ms = Since(view.last_heartbeat, now);
    server.crash_procedure = view.crash_procedure;
    if (const auto hangs = env.storage.HangsFor(view.name, now)) server.storage_hangs_ms = hangs->count();
    server.lacks_room = env.storage.LacksRoom(view.name);
  }
  if (parts.dispatcher == nullptr) return;
  for (const ServerQueueView& queue : parts.dispatcher->View()) {
    const auto found = facts.servers.find(queue.server.ToString());
    if (found == facts.servers.end()) continue;
    found->second.orders = queue.queued + queue.in_flight;
    found->second.failures = queue.failures;
    found->second.last_error = queue.last_error;
  }
}

// Copies regions that may have a problem; with `all`, every region.
void CollectRegions(const ActiveParts& parts, TimePoint now, bool all, MasterFacts& facts) {
  const auto online = parts.logic->servers.Online();
  const std::set<ServerName> live(online.begin(), online.end());
  const auto take = [&](const RegionNode& node) {
    WhyRegion& region = facts.regions[node.encoded];
    region.table = node.info.table.ToString();
    region.state = std::string(RegionStateText(node.state));
    if (node.location.has_value()) region.server = node.location->ToString();
    region.owner = node.owner;
    region.since_ms = Since(node.last_update, now);
    region.served = IsServed(node, live);
    region.at_rest = IsAtRest(node.state) && node.state != RegionState::kOpen;
  };
  RegionDirectory& regions = parts.logic->regions;
  if (all) {
    regions.Visit(take);
  } else {
    for (const RegionNode& node : regions.InTransition()) take(node);
    for (const ServerName& server : regions.Locations()) {
      if (live.contains(server)) continue;
      for (const RegionNode& node : regions.OnServer(server)) take(node);
    }
    if (const auto meta = regions.Get(kMetaEncodedName)) take(*meta);
  }
  for (const TableNode& node : parts.logic->tables.List()) {
    WhyTable& table = facts.tables[node.name.ToString()];
    table.between = node.state == TableState::kEnabling || node.state == TableState::kDisabling;
    table.state = node.state == TableState::kEnabling    ? "ENABLING"
                  : node.state == TableState::kDisabling ? "DISABLING"
                  : node.state == TableState::kEnabled   ? "ENABLED"
                                                         : "DISABLED";
    if (node.schema != nullptr) continue;
    table.schema_error = node.schema_error;
    table.schema_awaited = node.schema_awaited;
  }
}

void CollectProblems(const ServiceEnv& env, const ActiveParts& parts, TimePoint now, MasterFacts& facts) {
  for (const auto& problem : env.clocks.Problems(parts.logic->servers.Online(), env.clock_limits.warning)) {
    const auto age = problem.since ? std::optional(Since(*problem.since, now)) : std::nullopt;
    facts.problems.push_back({WhyCause::kClock, problem.text, "correct the clock of the machine that is wrong", age});
  }
  if (const auto low = env.pasts.LowDisk(parts.logic->servers.Online()))
    facts.problems.push_back({WhyCause::kSpace, low->text, host::kMakeRoom, Since(low->since, now)});
  for (const auto& [server, progress] : parts.logic->peers.Progress()) {
    if (progress.error().empty()) continue;
    const std::string of = progress.peer().empty() ? "replication" : "replication to peer " + progress.peer();
    facts.problems.push_back(
        {WhyCause::kReplication,
         fmt::format("{} of the logs of {} is stuck at {}: {}", of, progress.server(), server.ToString(),
                     progress.error()),
         "ratchet peers; make the peer's cluster reachable, or ratchet remove-peer",
         progress.lag_ms() == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(progress.lag_ms()))});
  }
  for (const auto& problem : env.unreached.Problems(now))
    facts.problems.push_back({WhyCause::kConnection, problem.text, problem.verb, Since(problem.since, now)});
  for (const std::string& text : parts.logic->reconciler.Problems()) {
    const bool of_table = std::any_of(facts.tables.begin(), facts.tables.end(),
                                      [&text](const auto& entry) { return entry.second.schema_error == text; });
    if (!of_table) facts.problems.push_back({WhyCause::kDifference, text, "ratchet reconcile", std::nullopt});
  }
}

}  // namespace

MasterFacts CollectWhyFacts(const ServiceEnv& env, bool all_regions) {
  const MasterGate& gate = env.gate;
  const TimePoint now = gate.clock().Now();
  MasterFacts facts;
  facts.role = static_cast<WhyRole>(gate.role());
  facts.self = gate.self().ToString();
  facts.now_ms = gate.clock().WallMillis();
  if (const auto active = gate.active_master()) facts.active_master = active->ToString();
  for (const auto& [kind, text] : gate.problems()) {
    if (kind == OwnProblem::kElection) {
      facts.election_obstacle = text;
    } else if (kind == OwnProblem::kRefusedStart) {
      facts.refused_start = text;
      if (gate.role() != MasterRole::kStandby)
        facts.problems.push_back({WhyCause::kMasterRefused, text, "start that master again", std::nullopt});
    } else if (kind == OwnProblem::kZooKeeperRights) {
      facts.problems.push_back({WhyCause::kZooKeeper, text, "set the rights with setAcl of zkCli", std::nullopt});
    } else if (kind == OwnProblem::kMembers) {
      facts.problems.push_back(
          {WhyCause::kNotAMember, text, "end the program at that address, or correct cluster.key", std::nullopt});
    } else {
      facts.problems.push_back({WhyCause::kDamagedFile, text, "restore cluster.id below --root", std::nullopt});
    }
  }
  const auto steps = gate.steps();
  if (!steps.empty()) {
    const ActivationStepView& step = steps.back();
    facts.step = step.detail.empty() ? step.name : step.name + ", " + step.detail;
    facts.step_ms = std::max<std::int64_t>(0, (gate.since_elected() - step.started).count());
  }
  if (env.zookeeper_lost) {
    if (const auto lost = env.zookeeper_lost()) facts.zookeeper_lost_ms = lost->count();
  }
  if (env.own_storage_hangs) {
    if (const auto hangs = env.own_storage_hangs()) facts.own_storage_hangs_ms = hangs->count();
  }
  facts.meta_loaded = false;
  const auto parts = gate.Admit(Need::kRecovered);
  if (!parts.ok()) return facts;
  facts.meta_loaded = parts->logic->ready();
  facts.order_resend_ms = parts->logic->env.options.order_resend.Get().count();
  if (const Status room = parts->store->Admit(); !room.ok()) facts.store_full = room.error().message();
  CollectProcedures(*parts, facts);
  CollectServers(env, *parts, now, facts);
  CollectRegions(*parts, now, all_regions, facts);
  CollectProblems(env, *parts, now, facts);
  return facts;
}

}  // namespace ratchet::master
