#include "chaos/driver/options.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/ranges.h>

#include "chaos/cluster/zookeeper_config.h"
#include "chaos/driver/scenario.h"
#include "common/base/config.h"
#include "common/base/exit_codes.h"
#include "common/base/prng.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kPurpose =
    "Runs client load against a cluster, breaks it, and judges the result.\n"
    "Exit codes: 0 PASS, 1 FAIL, 2 wrong flag, 3 INCONCLUSIVE (too little happened to call it a pass).\n"
    "Examples: ratchet-chaos --scenario serverKilling --duration 5min --html report.html\n"
    "          ratchet-chaos --faults kill-active-master,pause-server --seed 7\n"
    "          ratchet-chaos --kill-step ServerCrash:SPLIT_LOG --at executor.before_commit~CreateTable";

constexpr std::uint64_t kDiskBytes = std::uint64_t{2} << 30U;

void BindRun(Settings& settings, ChaosOptions* o) {
  settings.AddText({"scenario", "a named mix of faults; --list shows them (default everything)", {}}, &o->scenario);
  settings.AddList({"faults", "kinds of faults to inject instead of a scenario; --list shows them", {}}, &o->faults);
  settings.AddList({"at", "fault point at which a process dies: NAME[~MATCH][=ACTION][@SKIP]", {}}, &o->at);
  settings.AddList({"kill-step", "kill the master after a durable step: TYPE:N or TYPE:STEP", {}}, &o->kill_steps);
  settings.AddMillis({"duration", "time during which faults are injected", {}}, &o->duration, Millis(0),
                     Millis(86'400'000));
  settings.AddMillis({"period", "average time between two faults; 0: the scenario's", {}}, &o->period, Millis(0),
                     Millis(3'600'000));
  settings.AddInt({"intensity", "number of simultaneous faults; 0: the scenario's", {}}, &o->intensity, {0, 16});
  settings.AddInt({"seed", "seed of all choices; 0 draws one and prints it", {}}, &o->seed, {0, INT64_MAX});
  settings.AddList({"workloads", "workloads; --list shows them (default: all that need one cluster)", {}},
                   &o->workloads);
  settings.AddText({"clients",
                    "directory of client programs in other languages, from scripts/client-loads; with it their "
                    "workloads (java) run by default",
                    {}},
                   &o->clients);
  settings.AddText(
      {"released",
       "directory of ratchet-master and ratchet-regionserver of a release, from scripts/released-binaries; "
       "the fault mixed-versions needs it",
       {}},
      &o->released);
  settings.AddInt({"threads", "number of threads of each workload", {}}, &o->threads, {1, 64});
  settings.AddInt({"regions", "number of regions of each workload's table", {}}, &o->regions, {1, 1000});
}

void BindCluster(Settings& settings, ChaosOptions* o) {
  settings.AddText({"target", "the cluster to break: a new one, one that runs in --dir, or the Compose cluster", {}},
                   &o->target, Presence::kOptional, {"local", "running", "compose"});
  settings.AddBool({"compose", "same as --target compose", {}}, &o->compose);
  settings.AddText({"project", "Compose's project name", {}}, &o->project);
  settings.AddText({"dir",
                    "local: directory of the new cluster (must not exist); running: its directory; compose: the folder "
                    "of docker-compose.yml",
                    {}},
                   &o->dir);
  settings.AddInt({"zookeepers",
                   "members of a local cluster's ZooKeeper: 1, 3 or 5 (default 3 when one of the faults needs "
                   "an ensemble, as in everything, zookeeper and partitions, else 1)",
                   {}},
                  &o->zookeepers, {0, 5});
  settings.AddInt({"masters", "number of masters of a local cluster", {}}, &o->masters, {1, 9});
  settings.AddInt({"servers", "number of region servers of a local cluster", {}}, &o->servers, {1, 50});
  settings.AddText(
      {"storage", "storage of a local cluster's root: local, or ceph (a mini Ceph of its own, scripts/ceph)", {}},
      &o->storage, Presence::kOptional, {"local", "ceph"});
  settings.AddMillis({"session-ms", "ZooKeeper session timeout of a local cluster's processes", {}}, &o->session,
                     Millis(400), Millis(60'000));
  settings.AddBytes({"disk-bytes",
                     "local: size of a separate file system for the root, which faults may fill; 0: none; "
                     "needs root (default for root: 2GiB in the scenarios disk and everything)",
                     {}},
                    &o->disk_bytes, 0, std::uint64_t{1} << 40U);
}

void BindVerdict(Settings& settings, ChaosOptions* o) {
  settings.AddDouble({"min-traffic", "operations per second that must be answered before each fault", {}},
                     &o->min_traffic, 0, 1e6);
  settings.AddDouble({"max-unknown", "maximum share of operations with unknown outcome, in per cent", {}},
                     &o->max_unknown, 0, 100);
  settings.AddDouble(
      {"gap-factor", "factor for the limits on the time that a client waits for an answer; 0: no limits", {}},
      &o->gap_factor, 0, 1000);
  settings.AddMillis({"settle-ms", "time limit after a fault within which everything must be served again", {}},
                     &o->settle, Millis(1000), Millis(3'600'000));
  settings.AddText({"bundle", "folder for the evidence of a run that does not pass (default DIR-bundle)", {}},
                   &o->bundle);
  settings.AddText({"history",
                    "folder for the workloads' complete histories, also of a run that passes (docs/history-format.md)",
                    {}},
                   &o->history);
  settings.AddText({"json", "write the report as JSON to this file", {}}, &o->json);
  settings.AddText({"html", "write the report as one HTML page to this file", {}}, &o->html);
  settings.AddBool({"secure",
                    "local: TLS everywhere, users from certificates, enforced rights, audit logs, and clients without "
                    "rights that try every method all the time; default scenario: secure",
                    {}},
                   &o->secure);
  settings.AddBool({"keep", "keep a local cluster's directory after a pass", {}}, &o->keep);
  settings.AddBool({"list", "print scenarios and kinds of faults with their needs, and exit", {}}, &o->list);
}

void Bind(Settings& settings, ChaosOptions* o) {
  BindRun(settings, o);
  BindCluster(settings, o);
  BindVerdict(settings, o);
}

// Splits at commas, so that "a,b" and two flags are equivalent.
void SplitAtCommas(std::vector<std::string>* values) {
  std::vector<std::string> parts;
  for (const auto& value : *values) {
    for (std::size_t from = 0; from <= value.size();) {
      const auto comma = std::min(value.find(',', from), value.size());
      if (comma > from) parts.push_back(value.substr(from, comma - from));
      from = comma + 1;
    }
  }
  *values = std::move(parts);
}

void AddFlag(std::string& command, const char* name, const std::string& value) {
  const bool plain = value.find_first_of(" ~*;&|<>'\"$()") == std::string::npos;
  command += plain ? fmt::format(" --{} {}", name, value) : fmt::format(" --{} '{}'", name, value);
}

}  // namespace

int ParseChaosOptions(int argc, const char* const* argv, ChaosOptions* options) {
  Settings settings("ratchet-chaos", kPurpose);
  Bind(settings, options);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  SplitAtCommas(&options->faults);
  SplitAtCommas(&options->workloads);
  const bool chooses = !options->faults.empty() || !options->at.empty() || !options->kill_steps.empty();
  if (options->secure && options->scenario.empty() && !chooses) options->scenario = "secure";
  // Enabled by default only for root. The other faults of these scenarios need no privileges.
  const bool wants_disk =
      options->scenario == "disk" || options->scenario == "everything" || (options->scenario.empty() && !chooses);
  if (options->disk_bytes == 0 && wants_disk && geteuid() == 0) options->disk_bytes = kDiskBytes;
  if (options->compose) options->target = "compose";
  if (options->secure && options->target != "local") {
    std::cerr << "ratchet-chaos: --secure needs --target local, because it makes the certificates of a new cluster\n";
    return exit_code::kUsage;
  }
  if (options->seed == 0) options->seed = static_cast<std::int64_t>(RandomSeed() >> 33U) + 1;
  if (options->zookeepers != 0) {
    if (const Status odd = CheckZooKeeperMembers(options->zookeepers); !odd.ok()) {
      std::cerr << "ratchet-chaos: --zookeepers: " << odd.error().message() << "\n";
      return exit_code::kUsage;
    }
  }
  if (options->target == "running" && options->dir.empty()) {
    std::cerr << "ratchet-chaos: --target running needs --dir, the directory of the cluster\n";
    return exit_code::kUsage;
  }
  return -1;
}

Result<Plan> MakePlan(const ChaosOptions& options, const std::vector<std::string_view>& kinds) {
  std::vector<WeightedFault> chosen;
  for (const auto& kind : options.faults) chosen.push_back({kind, 1});
  for (const auto& point : options.at) chosen.push_back({"at:" + point, 1});
  for (const auto& text : options.kill_steps) {
    RATCHET_ASSIGN(std::string kind, KillStepKind(text));
    chosen.push_back({std::move(kind), 1});
  }
  const bool only_chosen = options.scenario.empty() && !chosen.empty();
  RATCHET_ASSIGN(Scenario scenario, FindScenario(options.scenario.empty() ? "everything" : options.scenario));
  Plan plan{only_chosen ? "chosen" : std::string(scenario.name), {}, scenario.period, scenario.intensity};
  if (!only_chosen) {
    plan.mix = scenario.mix;
    if (plan.mix.empty()) {
      for (const auto kind : kinds) plan.mix.push_back({std::string(kind), 1});
    }
  }
  plan.mix.insert(plan.mix.end(), chosen.begin(), chosen.end());
  if (options.period.count() > 0) plan.period = options.period;
  if (options.intensity > 0) plan.intensity = static_cast<std::size_t>(options.intensity);
  return plan;
}

std::string ReplayCommand(const ChaosOptions& options) {
  const ChaosOptions defaults;
  std::string command = "scripts/chaos";
  const auto text = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) AddFlag(command, name, value);
  };
  const auto number = [&](const char* name, auto value, auto usual) {
    if (value != usual) AddFlag(command, name, fmt::format("{}", value));
  };
  const auto millis = [&](const char* name, Millis value, Millis usual) {
    if (value != usual) AddFlag(command, name, fmt::format("{}ms", value.count()));
  };
  text("scenario", options.scenario, defaults.scenario);
  for (const auto& kind : options.faults) AddFlag(command, "faults", kind);
  for (const auto& point : options.at) AddFlag(command, "at", point);
  for (const auto& step : options.kill_steps) AddFlag(command, "kill-step", step);
  millis("duration", options.duration, defaults.duration);
  millis("period", options.period, defaults.period);
  number("intensity", options.intensity, defaults.intensity);
  AddFlag(command, "seed", fmt::format("{}", options.seed));
  if (!options.workloads.empty()) AddFlag(command, "workloads", fmt::format("{}", fmt::join(options.workloads, ",")));
  text("clients", options.clients, defaults.clients);
  text("released", options.released, defaults.released);
  number("threads", options.threads, defaults.threads);
  number("regions", options.regions, defaults.regions);
  text("target", options.target, defaults.target);
  text("project", options.project, defaults.project);
  if (options.target != defaults.target && !options.dir.empty()) AddFlag(command, "dir", options.dir);
  number("zookeepers", options.zookeepers, defaults.zookeepers);
  number("masters", options.masters, defaults.masters);
  number("servers", options.servers, defaults.servers);
  text("storage", options.storage, defaults.storage);
  millis("session-ms", options.session, defaults.session);
  number("disk-bytes", options.disk_bytes, defaults.disk_bytes);
  number("min-traffic", options.min_traffic, defaults.min_traffic);
  number("max-unknown", options.max_unknown, defaults.max_unknown);
  number("gap-factor", options.gap_factor, defaults.gap_factor);
  millis("settle-ms", options.settle, defaults.settle);
  if (options.secure) command += " --secure";
  return command;
}

}  // namespace ratchet::chaos
