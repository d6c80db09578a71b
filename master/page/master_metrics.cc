#include "master/page/master_metrics.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/metrics/process_sample.h"
#include "common/ops/page/shared_metrics.h"
#include "master/cluster/transition_counts.h"
#include "master/dispatch/remote_dispatcher.h"
#include "master/history/history_book.h"
#include "master/rpc/problems.h"
#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"
#include "procedure/api/store.h"
#include "procedure/ops/procedure_metrics.h"

namespace ratchet::master {
namespace {

using metrics::MetricsText;

double Seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }
double Seconds(Millis time) { return Seconds(time.count()); }
double SecondsSince(TimePoint then, TimePoint now) {
  return Seconds(std::max(Millis{0}, std::chrono::duration_cast<Millis>(now - then)));
}

constexpr std::array<std::string_view, 4> kRoles{"standby", "activating", "active", "stopping"};

void AddRole(MetricsText& text, const ServiceEnv& env) {
  const auto role = static_cast<std::size_t>(env.gate.role());
  text.Gauge("master_role", "1 for the role that this master has, 0 for the others.");
  for (std::size_t i = 0; i < kRoles.size(); ++i)
    text.Value(std::uint64_t{i == role ? 1U : 0U}, {{"role", std::string(kRoles[i])}});
  text.Gauge("master_uptime_seconds", "Time since the start of this process.", Seconds(env.gate.uptime()));
  text.Gauge("master_backup_masters", "Other masters that are registered in ZooKeeper.",
             static_cast<double>(env.backup_masters().size()));
  text.Counter("master_came_again_total", "Automatic restarts of this process.", env.past.count);
  const auto lost = env.zookeeper_lost ? env.zookeeper_lost() : std::nullopt;
  text.Gauge("zookeeper_lost_seconds", "Time since ZooKeeper's last answer; 0 while it answers.",
             lost.has_value() ? Seconds(*lost) : 0);
}

void AddActivation(MetricsText& text, const ServiceEnv& env) {
  const auto steps = env.gate.steps();
  text.Gauge("master_activation_step_seconds", "Duration of each finished step of the activation.");
  for (const ActivationStepView& step : steps) {
    if (step.took.has_value()) text.Value(Seconds(*step.took), {{"step", step.name}});
  }
  if (steps.empty() || !steps.back().took.has_value()) return;
  text.Gauge("master_activation_seconds", "Time from the election to the end of the activation.",
             Seconds(steps.back().started + *steps.back().took));
}

void AddHistory(MetricsText& text, const HistoryBook* history) {
  if (history == nullptr) return;
  const HistoryStats stats = history->stats();
  text.Gauge("history_bytes", "Files of ended procedures below <root>/history.", static_cast<double>(stats.bytes));
  text.Counter("history_entries_total", "Ended procedures that this master has written to the history.", stats.written);
  text.Counter("history_lost_entries_total", "Ended procedures that this master could not write to the history.",
               stats.lost);
}

void AddRegions(MetricsText& text, MasterLogic& logic, TimePoint now) {
  std::array<std::uint64_t, 16> by_state{};
  std::uint64_t moving = 0;
  std::uint64_t refused = 0;
  TimePoint oldest = now;
  logic.regions.Visit([&](const RegionNode& node) {
    ++by_state[static_cast<std::size_t>(node.state) % by_state.size()];
    if (node.failed_opens >= kStuckRefusals) ++refused;
    if (!node.owner.valid()) return;
    ++moving;
    oldest = std::min(oldest, node.last_update);
  });
  text.Gauge("regions", "Regions of all tables, by state.");
  for (const RegionState state : kRegionStates)
    text.Value(by_state[static_cast<std::size_t>(state)], {{"state", std::string(RegionStateText(state))}});
  text.Gauge("regions_in_transition", "Regions in transition.", static_cast<double>(moving));
  text.Gauge("regions_in_transition_oldest_seconds",
             "Time since the last change of the region that is in transition for longest; 0 if none is.",
             SecondsSince(oldest, now));
  text.Gauge("regions_refused", "Regions that servers have refused to open three times or more in a row.",
             static_cast<double>(refused));
  text.Gauge("tables", "Tables, hbase:meta included.", static_cast<double>(logic.tables.List().size()));
  const auto meta = logic.regions.MetaLocation();
  text.Gauge("meta_online", "1 while hbase:meta is open on a server that lives, else 0.",
             meta.has_value() && logic.servers.IsOnline(*meta) ? 1 : 0);
}

void AddTransitions(MetricsText& text) {
  std::array<TransitionCounts::View, kTransitionKindNames.size()> views{};
  for (std::size_t i = 0; i < views.size(); ++i)
    views[i] = TransitionCounts::OfProcess().Look(static_cast<TransitionKind>(i));
  const auto kind = [](std::size_t i) { return std::string(kTransitionKindNames[i]); };
  text.Counter("region_transitions_submitted_total", "Transitions of regions that were submitted, by kind.");
  for (std::size_t i = 0; i < views.size(); ++i) text.Value(views[i].submitted, {{"kind", kind(i)}});
  text.Counter("region_transitions_finished_total", "Transitions of regions that have ended, by kind and outcome.");
  for (std::size_t i = 0; i < views.size(); ++i) {
    text.Value(views[i].succeeded, {{"kind", kind(i)}, {"outcome", "success"}});
    text.Value(views[i].failed, {{"kind", kind(i)}, {"outcome", "failure"}});
  }
  text.Histogram("region_transition_duration_seconds", "Transitions of regions, from the submission to the end.");
  for (std::size_t i = 0; i < views.size(); ++i) text.Durations(views[i].took, {{"kind", kind(i)}});
}

void AddServers(MetricsText& text, const ActiveParts& parts, TimePoint now) {
  std::array<std::uint64_t, kServerPhases.size()> by_phase{};
  TimePoint silent = now;
  for (const ServerView& server : parts.logic->servers.List()) {
    ++by_phase[static_cast<std::size_t>(server.phase)];
    if (server.phase == ServerPhase::kOnline) silent = std::min(silent, server.last_heartbeat);
  }
  text.Gauge("servers", "Region servers that the master knows, by phase.");
  for (const ServerPhase phase : kServerPhases)
    text.Value(by_phase[static_cast<std::size_t>(phase)], {{"phase", std::string(ServerPhaseName(phase))}});
  text.Gauge("servers_oldest_report_seconds", "Age of the oldest last report of an online server.",
             SecondsSince(silent, now));
  std::uint64_t queued = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t silent_servers = 0;
  for (const ServerQueueView& view : parts.dispatcher->View()) {
    queued += view.queued;
    in_flight += view.in_flight;
    if (view.failures > 0) ++silent_servers;
  }
  text.Gauge("orders_queued", "Queued orders to region servers.", static_cast<double>(queued));
  text.Gauge("orders_in_flight", "Orders to region servers in requests in flight.", static_cast<double>(in_flight));
  text.Gauge("orders_unanswered_servers", "Region servers whose last request with orders failed.",
             static_cast<double>(silent_servers));
}

void AddRecoveries(MetricsText& text, const RecoveryBook& recoveries) {
  text.Histogram("recovery_duration_seconds", "Recoveries of crashed servers that have ended, by phase.");
  for (std::size_t i = 0; i < kRecoveryPhaseNames.size(); ++i)
    text.Durations(recoveries.Look(static_cast<RecoveryPhase>(i)), {{"phase", std::string(kRecoveryPhaseNames[i])}});
}

}  // namespace

std::string_view RoleName(MasterRole role) { return kRoles[static_cast<std::size_t>(role)]; }

std::string MasterMetrics(const MasterMetricsSources& sources) {
  MetricsText text;
  const ServiceEnv& env = sources.env;
  const Clock& clock = env.gate.clock();
  const std::string& version = env.gate.version();  // "ratchet 0.3"
  page::AddBuild(text, "ratchet-master", version.substr(version.find(' ') + 1));
  AddRole(text, env);
  page::AddRpc(text, sources.rpc);
  page::AddSecurity(text);
  page::AddStorage(text);
  page::AddZooKeeper(text, sources.zookeeper());
  page::AddHttp(text, sources.page());
  metrics::AddProcess(text);
  const auto parts = env.gate.Admit(Need::kRecovered);
  if (!parts.ok()) return text.Take();
  text.Gauge("master_epoch", "Epoch of the active master.", static_cast<double>(parts->epoch.value()));
  AddActivation(text, env);
  host::AddProcedures(text, *parts->executor, kStuckRefusals);
  host::AddStore(text, parts->store->metrics(), parts->store->Admit().ok());
  AddHistory(text, parts->history);
  AddRegions(text, *parts->logic, clock.Now());
  AddTransitions(text);
  AddServers(text, *parts, clock.Now());
  AddRecoveries(text, sources.recoveries);
  return text.Take();
}

}  // namespace ratchet::master
