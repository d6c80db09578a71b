// The state shared by the parts of ProcessCluster; included by them alone.
#pragma once

#include <signal.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "chaos/cluster/ceph_storage.h"
#include "chaos/cluster/cluster_state.h"
#include "chaos/cluster/cluster_view.h"
#include "chaos/cluster/kept_settings.h"
#include "chaos/cluster/log_file.h"
#include "chaos/cluster/released_programs.h"
#include "chaos/cluster/zookeeper_ensemble.h"

namespace ratchet::chaos {

struct ClusterProcesses {
  static constexpr Millis kZooKeeperPatience{30'000};

  ClusterState state;
  ZooKeeperEnsemble zookeepers;
  std::unique_ptr<ClusterView> view;
  std::unique_ptr<CephStorage> ceph;           // null: the root is a local directory
  std::unique_ptr<ReleasedPrograms> released;  // null: none
  bool leave_running = false;
  std::vector<ProcessChange> changes;  // of masters and region servers, in order

  ClusterSpec& spec() { return state.spec; }

  ProcessInfo* Find(const std::string& name) {
    const auto found = std::find_if(state.processes.begin(), state.processes.end(),
                                    [&](const ProcessInfo& info) { return info.name == name; });
    return found == state.processes.end() ? nullptr : &*found;
  }

  Result<ProcessInfo*> Require(const std::string& name) {
    ProcessInfo* info = Find(name);
    if (info == nullptr) return Error(Code::kNotFound, fmt::format("the cluster has no process '{}'", name));
    Refresh(*info);
    return info;
  }

  Result<ProcessInfo*> RequireRunning(const std::string& name) {
    RATCHET_ASSIGN(ProcessInfo * info, Require(name));
    if (info->id.pid == 0) return Error(Code::kFailedPrecondition, name + " does not run");
    return info;
  }

  // Notices when a process has ended.
  void Refresh(ProcessInfo& info) {
    if (info.id.pid == 0) return;
    const auto ended = CheckEnded(info.id);
    if (!ended) return;
    info.exit_code = ended->code;
    info.id = {};
    info.paused = false;
    Save();
  }

  // Reads the server's new log lines. A process that restarts itself keeps its pid.
  static void FollowLog(ProcessInfo& info) {
    if (info.role == Role::kZooKeeper) return;
    const std::string serving = "Start: serving as ";
    info.log_read = FollowLines(info.log, std::max(info.log_read, info.log_start), [&](const std::string& line) {
      if (line.find(kComesAgain) != std::string::npos) {
        ++info.came_again;
        info.serving_as.clear();
      } else if (const auto at = line.find(serving); at != std::string::npos) {
        info.serving_as = line.substr(at + serving.size());
      }
    });
  }

  void Save() { IgnoreResult(SaveState(state), "the state of this run is in memory"); }

  Result<std::uint16_t> AddProcess(const std::string& name, Role role) {
    ProcessInfo info;
    info.name = name;
    info.role = role;
    RATCHET_ASSIGN(info.port, PickFreePort());
    info.log = spec().dir / "logs" / (name + ".log");
    state.processes.push_back(info);
    return info.port;
  }

  // Returns the root as the process of this name sees it; "observer" is any other program.
  [[nodiscard]] std::filesystem::path RootOf(const std::string& name) {
    return ceph != nullptr ? ceph->RootOf(name) : spec().dir / "root";
  }

  // Finds the storage's scripts once per cluster, and stores the path in the spec.
  Status FindStorage() {
    if (spec().storage == "local") return Ok();
    if (spec().storage != "ceph")
      return Error(Code::kInvalidArgument, fmt::format("unknown storage '{}': expected local or ceph", spec().storage));
    if (spec().ceph_scripts.empty()) {
      RATCHET_ASSIGN(spec().ceph_scripts, FindCephScripts(spec().bin));
    }
    ceph = std::make_unique<CephStorage>(spec().ceph_scripts, spec().dir / "ceph");
    return Ok();
  }

  LaunchSpec ServerLaunch(const ProcessInfo& info, const Environment& extra, const std::vector<std::string>& flags) {
    const bool master = info.role == Role::kMaster;
    LaunchSpec launch;
    launch.arguments = {(spec().bin / (master ? "ratchet-master" : "ratchet-regionserver")).string(),
                        "--root",
                        RootOf(info.name).string(),
                        "--host",
                        "127.0.0.1",
                        "--port",
                        std::to_string(info.port),
                        "--info-port",
                        "0",  // any free port, because many processes live on this machine
                        "--zk-session-ms",
                        std::to_string(spec().session_timeout.count())};
    const std::vector<std::string>& always = master ? spec().master_flags : spec().server_flags;
    if (ceph != nullptr) {
      const std::vector<std::string> storage = ceph->Flags(info.name, info.role);
      launch.arguments.insert(launch.arguments.end(), storage.begin(), storage.end());
    }
    for (std::string flag : always) {
      if (const auto at = flag.find(kOwnName); at != std::string::npos) flag.replace(at, kOwnName.size(), info.name);
      launch.arguments.push_back(std::move(flag));
    }
    launch.arguments.insert(launch.arguments.end(), flags.begin(), flags.end());
    launch.environment = {{"RATCHET_ZOOKEEPER", zookeepers.addresses()}};  // `extra` may lead through a proxy
    launch.environment.insert(spec().environment.begin(), spec().environment.end());
    launch.environment.merge(Inherited(state.settings, ShellSettings()));
    for (const auto& [name, value] : extra) launch.environment[name] = value;
    launch.output = info.log;  // log lines and reports of sanitizers go to standard error
    launch.dies_with_us = !spec().detached;
    if (info.released) released->Adapt(launch);
    return launch;
  }

  void NoteChange(const ProcessInfo& info, ProcessChange::What what) {
    if (info.role == Role::kZooKeeper) return;
    changes.push_back({info.name, what, SystemClock().WallMillis(), FileSize(info.log)});
  }

  // Waits until the process is gone.
  Status AwaitEnd(ProcessInfo& info, Millis timeout) {
    return WaitUntil(info.name + " has ended", timeout, [&] {
      Refresh(info);
      return info.id.pid == 0;
    });
  }

  Status SignalAndAwait(const std::string& name, int signal, Millis timeout) {
    RATCHET_ASSIGN(ProcessInfo * info, RequireRunning(name));
    NoteChange(*info, signal == SIGKILL ? ProcessChange::What::kKill : ProcessChange::What::kAskToStop);
    RATCHET_TRY(Signal(info->id, signal));
    return AwaitEnd(*info, timeout);
  }

  std::uint64_t LogFrom(const ProcessInfo& info, std::uint64_t from) const {
    return from == kThisRun ? info.log_start : from;
  }

  // Prepares the members once their ports are known.
  Status PrepareZooKeepers() {
    std::vector<ZooKeeperMember> members;
    for (const auto& info : state.processes) {
      if (info.role == Role::kZooKeeper) members.push_back({info.name, info.log, info.port});
    }
    RATCHET_ASSIGN(zookeepers,
                   ZooKeeperEnsemble::Prepare(spec().dir, members, state.zookeeper_peers, !spec().detached));
    for (const auto& info : state.processes) {
      if (info.role == Role::kZooKeeper) zookeepers.Find(info.name)->Adopt(info.id);
    }
    view = std::make_unique<ClusterView>(zookeepers.addresses());
    return Ok();
  }

  // Starts the members at the same time, because a JVM starts slowly. Each answers then, and serves once a majority
  // answers.
  Status StartZooKeepers(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      RATCHET_ASSIGN(ProcessInfo * info, Require(name));
      if (info->id.pid != 0) return Error(Code::kFailedPrecondition, name + " runs already");
      ZooKeeperProcess* process = zookeepers.Find(name);
      if (process == nullptr) return Error(Code::kInvalidArgument, name + " is not a ZooKeeper member");
      NoteStart(*info);
      RATCHET_TRY(process->Launch());
      info->id = process->id();
    }
    for (const auto& name : names) RATCHET_TRY(zookeepers.Find(name)->AwaitAnswer(kZooKeeperPatience));
    return SaveState(state);
  }

  Status StartAllZooKeepers() {
    std::vector<std::string> missing;
    for (auto& info : state.processes) {
      Refresh(info);
      if (info.role == Role::kZooKeeper && info.id.pid == 0) missing.push_back(info.name);
    }
    RATCHET_TRY(StartZooKeepers(missing));
    Status joined = Ok();
    const Status all = WaitUntil("a ZooKeeper ensemble that serves", kZooKeeperPatience, [&] {
      joined = CheckZooKeepers();
      return joined.ok();
    });
    return all.ok() ? all : all.error().Annotate(joined.error().message());
  }

  // Checks that each running member serves.
  Status CheckZooKeepers() {
    for (auto& info : state.processes) {
      Refresh(info);
      if (info.role != Role::kZooKeeper || info.id.pid == 0 || info.paused) continue;
      if (zookeepers.StateOf(info.name).mode.empty()) return Error(Code::kUnavailable, info.name + " does not serve");
    }
    return Ok();
  }

  static void NoteStart(ProcessInfo& info) {
    info.log_start = FileSize(info.log);
    info.started_wall_ms = SystemClock().WallMillis();
    info.exit_code.reset();
    info.serving_as.clear();
    info.came_again = 0;
    info.log_read = info.log_start;
  }

  [[nodiscard]] std::string NameAtPort(std::uint16_t port, Role role) const {
    for (const auto& info : state.processes) {
      if (info.role == role && info.port == port) return info.name;
    }
    return "";
  }
};

}  // namespace ratchet::chaos
