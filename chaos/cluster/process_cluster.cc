#include "chaos/cluster/process_cluster.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "chaos/cluster/cluster_state.h"
#include "chaos/cluster/cluster_view.h"
#include "chaos/cluster/log_file.h"
#include "chaos/cluster/zookeeper_process.h"
#include "common/base/setting_value.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kZooKeeperName = "zookeeper";
constexpr Millis kZooKeeperPatience{30'000};
constexpr Millis kKillPatience{10'000};

Error NoProcess(const std::string& name) {
  return {Code::kNotFound, fmt::format("the cluster has no process '{}'", name)};
}

}  // namespace

struct ProcessCluster::Impl {
  ClusterState state;
  std::optional<ZooKeeperProcess> zookeeper;
  std::unique_ptr<ClusterView> view;
  bool leave_running = false;

  ClusterSpec& spec() { return state.spec; }

  ProcessInfo* Find(const std::string& name) {
    const auto found = std::find_if(state.processes.begin(), state.processes.end(),
                                    [&](const ProcessInfo& info) { return info.name == name; });
    return found == state.processes.end() ? nullptr : &*found;
  }

  Result<ProcessInfo*> Require(const std::string& name) {
    ProcessInfo* info = Find(name);
    if (info == nullptr) return NoProcess(name);
    Refresh(*info);
    return info;
  }

  Result<ProcessInfo*> RequireRunning(const std::string& name) {
    RATCHET_ASSIGN(ProcessInfo * info, Require(name));
    if (info->id.pid == 0) return Error(Code::kFailedPrecondition, name + " does not run");
    return info;
  }

  // Notes when a process has ended.
  void Refresh(ProcessInfo& info) {
    if (info.id.pid == 0) return;
    const auto ended = CheckEnded(info.id);
    if (!ended) return;
    info.exit_code = ended->code;
    info.id = {};
    info.paused = false;
    Save();
  }

  void Save() { IgnoreResult(SaveState(state), "the processes of this run are known in memory"); }

  Result<std::uint16_t> AddProcess(const std::string& name, Role role) {
    ProcessInfo info;
    info.name = name;
    info.role = role;
    RATCHET_ASSIGN(info.port, PickFreePort());
    info.log = spec().dir / "logs" / (name + ".log");
    state.processes.push_back(info);
    return info.port;
  }

  LaunchSpec ServerLaunch(const ProcessInfo& info, const Environment& extra, const std::vector<std::string>& flags) {
    const bool master = info.role == Role::kMaster;
    LaunchSpec launch;
    launch.arguments = {(spec().bin / (master ? "ratchet-master" : "ratchet-regionserver")).string(),
                        "--root",
                        (spec().dir / "root").string(),
                        "--host",
                        "127.0.0.1",
                        "--port",
                        std::to_string(info.port),
                        "--zk-session-ms",
                        std::to_string(spec().session_timeout.count())};
    const std::vector<std::string>& always = master ? spec().master_flags : spec().server_flags;
    launch.arguments.insert(launch.arguments.end(), always.begin(), always.end());
    launch.arguments.insert(launch.arguments.end(), flags.begin(), flags.end());
    launch.environment = {{"RATCHET_ZOOKEEPER", zookeeper->address()}};  // `extra` may lead through a proxy
    launch.environment.insert(spec().environment.begin(), spec().environment.end());
    for (const auto& [name, value] : extra) launch.environment[name] = value;
    launch.output = info.log;  // log lines go to standard error, and so do a sanitizer's last words
    launch.dies_with_us = !spec().detached;
    return launch;
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
    RATCHET_TRY(Signal(info->id, signal));
    return AwaitEnd(*info, timeout);
  }

  std::uint64_t LogFrom(const ProcessInfo& info, std::uint64_t from) const {
    return from == kThisRun ? info.log_start : from;
  }

  [[nodiscard]] std::string NameAtPort(std::uint16_t port, Role role) const {
    for (const auto& info : state.processes) {
      if (info.role == role && info.port == port) return info.name;
    }
    return "";
  }
};

ProcessCluster::ProcessCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ProcessCluster::~ProcessCluster() {
  if (!impl_->leave_running) KillAll();
}

Result<std::unique_ptr<ProcessCluster>> ProcessCluster::Create(ClusterSpec spec) {
  std::error_code failed;
  spec.dir = std::filesystem::absolute(spec.dir, failed);
  if (std::filesystem::exists(StateFile(spec.dir))) {
    return Error(Code::kAlreadyExists, fmt::format("{} holds a cluster already", spec.dir.string()));
  }
  if (spec.bin.empty()) spec.bin = std::filesystem::canonical("/proc/self/exe", failed).parent_path();
  for (const char* program : {"ratchet-master", "ratchet-regionserver"}) {
    if (!std::filesystem::exists(spec.bin / program)) {
      return Error(Code::kNotFound, fmt::format("no {} in {}", program, spec.bin.string()));
    }
  }
  if (const char* session = std::getenv("RATCHET_TEST_SESSION_MS")) {
    RATCHET_ASSIGN(spec.session_timeout, ParseMillis(session));
  }
  for (const char* folder : {"root", "logs"}) {
    if (!std::filesystem::create_directories(spec.dir / folder, failed) && failed) {
      return Error(Code::kIo, fmt::format("cannot make {}: {}", (spec.dir / folder).string(), failed.message()));
    }
  }

  auto impl = std::make_unique<Impl>();
  impl->state.spec = spec;
  impl->leave_running = spec.detached;
  RATCHET_ASSIGN(const std::uint16_t port, impl->AddProcess(kZooKeeperName, Role::kZooKeeper));
  RATCHET_ASSIGN(auto zookeeper, ZooKeeperProcess::Prepare({spec.dir / "zookeeper", impl->state.processes.front().log,
                                                            port, Millis(200), !spec.detached}));
  impl->zookeeper.emplace(std::move(zookeeper));
  impl->view = std::make_unique<ClusterView>(impl->zookeeper->address());
  for (int i = 1; i <= spec.masters; ++i) {
    RATCHET_TRY(impl->AddProcess(fmt::format("master-{}", i), Role::kMaster));
  }
  for (int i = 1; i <= spec.servers; ++i) {
    RATCHET_TRY(impl->AddProcess(fmt::format("rs-{}", i), Role::kRegionServer));
  }
  std::unique_ptr<ProcessCluster> cluster(new ProcessCluster(std::move(impl)));
  RATCHET_TRY(cluster->Start(kZooKeeperName));
  return cluster;
}

Result<std::unique_ptr<ProcessCluster>> ProcessCluster::Attach(const std::filesystem::path& dir) {
  auto impl = std::make_unique<Impl>();
  RATCHET_ASSIGN(impl->state, LoadState(dir));
  impl->leave_running = true;
  ProcessInfo* info = impl->Find(kZooKeeperName);
  if (info == nullptr) return Error(Code::kCorruption, "cluster.state names no ZooKeeper");
  RATCHET_ASSIGN(auto zookeeper, ZooKeeperProcess::Prepare(
                                     {impl->spec().dir / "zookeeper", info->log, info->port, Millis(200), false}));
  impl->zookeeper.emplace(std::move(zookeeper));
  impl->zookeeper->Adopt(info->id);
  impl->view = std::make_unique<ClusterView>(impl->zookeeper->address());
  for (auto& process : impl->state.processes) process.paused = KernelState(process.id) == 'T';
  return std::unique_ptr<ProcessCluster>(new ProcessCluster(std::move(impl)));
}

Status ProcessCluster::StartAll(Millis timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (const Role role : {Role::kZooKeeper, Role::kMaster, Role::kRegionServer}) {
    for (const auto& name : Names(role)) {
      if (!Running(name)) RATCHET_TRY(Start(name));
    }
  }
  RATCHET_TRY(WaitServing(std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now())));
  for (const auto& info : Processes()) {
    if (info.id.pid == 0)
      return Error(Code::kUnavailable, fmt::format("{} ended with exit code {}; see {}", info.name,
                                                   info.exit_code.value_or(-1), info.log.string()));
  }
  return Ok();
}

Status ProcessCluster::Start(const std::string& name, const Environment& extra, const std::vector<std::string>& flags) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->Require(name));
  if (info->id.pid != 0) return Error(Code::kFailedPrecondition, name + " runs already");
  info->log_start = FileSize(info->log);
  info->started_wall_ms = SystemClock().WallMillis();
  info->exit_code.reset();
  info->serving_as.clear();
  if (info->role == Role::kZooKeeper) {
    RATCHET_TRY(impl_->zookeeper->Start(kZooKeeperPatience));
    info->id = impl_->zookeeper->id();
  } else {
    RATCHET_ASSIGN(info->id, Launch(impl_->ServerLaunch(*info, extra, flags)));
  }
  return SaveState(impl_->state);
}

Status ProcessCluster::Kill9(const std::string& name) { return impl_->SignalAndAwait(name, SIGKILL, kKillPatience); }

Status ProcessCluster::Stop(const std::string& name, Millis timeout) {
  const auto stopped = impl_->SignalAndAwait(name, SIGTERM, timeout);
  if (!stopped.ok() && stopped.error().code() == Code::kTimeout) RATCHET_TRY(Kill9(name));
  return stopped;
}

Status ProcessCluster::Pause(const std::string& name) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->RequireRunning(name));
  RATCHET_TRY(Signal(info->id, SIGSTOP));
  RATCHET_TRY(WaitUntil(name + " has stopped", kKillPatience, [&] { return KernelState(info->id) == 'T'; }));
  info->paused = true;
  return Ok();
}

Status ProcessCluster::Resume(const std::string& name) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->RequireRunning(name));
  RATCHET_TRY(Signal(info->id, SIGCONT));
  info->paused = false;
  return WaitUntil(name + " goes on", kKillPatience, [&] { return KernelState(info->id) != 'T'; });
}

Status ProcessCluster::Restart(const std::string& name, const Environment& extra) {
  if (Running(name)) RATCHET_TRY(Kill9(name));
  return Start(name, extra);
}

Result<std::string> ProcessCluster::AddServer(const Environment& extra, const std::vector<std::string>& flags) {
  const std::string name = fmt::format("rs-{}", Names(Role::kRegionServer).size() + 1);
  RATCHET_TRY(impl_->AddProcess(name, Role::kRegionServer));
  RATCHET_TRY(Start(name, extra, flags));
  return name;
}

Status ProcessCluster::StopAll(Millis timeout) {
  Status first = Ok();
  for (const Role role : {Role::kMaster, Role::kRegionServer, Role::kZooKeeper}) {
    std::vector<ProcessInfo*> stopping;
    for (const auto& name : Names(role)) {
      if (!Running(name)) continue;
      ProcessInfo* info = impl_->Find(name);
      if (Signal(info->id, SIGTERM).ok()) stopping.push_back(info);
      if (KernelState(info->id) == 'T')
        IgnoreResult(Signal(info->id, SIGCONT), "it is checked below whether it has ended");
    }
    for (ProcessInfo* info : stopping) {
      const auto ended = impl_->AwaitEnd(*info, timeout);
      if (!ended.ok() && first.ok()) first = ended;
      if (!ended.ok()) IgnoreResult(Kill9(info->name), "it may have ended meanwhile");
    }
  }
  return first;
}

void ProcessCluster::KillAll() {
  for (auto& info : impl_->state.processes) {
    impl_->Refresh(info);
    if (info.id.pid != 0) IgnoreResult(Kill9(info.name), "it may have ended meanwhile");
  }
}

Result<int> ProcessCluster::WaitExit(const std::string& name, Millis timeout) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->Require(name));
  RATCHET_TRY(impl_->AwaitEnd(*info, timeout));
  if (!info->exit_code)
    return Error(Code::kFailedPrecondition, name + " was not started by this process: its exit code is unknown");
  return *info->exit_code;
}

bool ProcessCluster::Running(const std::string& name) {
  return impl_->RequireRunning(name).ok();
}

ProcessInfo ProcessCluster::Info(const std::string& name) {
  const auto info = impl_->Require(name);
  return info.ok() ? **info : ProcessInfo{};
}

std::vector<ProcessInfo> ProcessCluster::Processes() {
  for (auto& info : impl_->state.processes) {
    impl_->Refresh(info);
    if (info.role == Role::kRegionServer && info.id.pid != 0 && info.serving_as.empty())
      info.serving_as = ServingName(info.log, info.log_start);
  }
  return impl_->state.processes;
}

std::vector<std::string> ProcessCluster::Names(Role role) {
  std::vector<std::string> names;
  for (const auto& info : impl_->state.processes) {
    if (info.role == role) names.push_back(info.name);
  }
  return names;
}

Result<std::string> ProcessCluster::ActiveMaster() {
  RATCHET_ASSIGN(const ServerName registered, impl_->view->RegisteredMaster());
  const std::string name = impl_->NameAtPort(registered.port, Role::kMaster);
  if (name.empty()) return Error(Code::kNotFound, registered.ToString() + " is active and not of this cluster");
  if (!Running(name)) return Error(Code::kNotFound, name + " is still registered as active but does not run");
  return name;
}

Result<pb::GetStatusResponse> ProcessCluster::StatusOf(const std::string& name) {
  RATCHET_ASSIGN(const ProcessInfo* info, impl_->RequireRunning(name));
  return impl_->view->StatusAt(info->port);
}

Result<std::string> ProcessCluster::MetaHolder() {
  RATCHET_ASSIGN(const std::string active, ActiveMaster());
  RATCHET_ASSIGN(const auto status, StatusOf(active));
  if (!status.has_meta_server()) return Error(Code::kNotFound, "nobody carries meta");
  const std::string name =
      impl_->NameAtPort(static_cast<std::uint16_t>(status.meta_server().port()), Role::kRegionServer);
  if (name.empty()) return Error(Code::kNotFound, "meta is on a server that is not of this cluster");
  return name;
}

Result<std::string> ProcessCluster::WaitActiveMaster(Millis timeout, const std::string& not_this) {
  std::string active;
  RATCHET_TRY(
      WaitUntil(not_this.empty() ? "an active master" : "an active master other than " + not_this, timeout, [&] {
        auto name = ActiveMaster();
        if (name.ok() && *name != not_this) active = *name;
        return !active.empty();
      }));
  return active;
}

Status ProcessCluster::WaitServing(Millis timeout) {
  Status last = Error(Code::kUnavailable, "nothing was asked yet");
  const auto served = WaitUntil("a serving cluster", timeout, [&] {
    const auto active = ActiveMaster();
    if (!active.ok()) {
      last = active.error();
      return false;
    }
    const auto status = StatusOf(*active);
    last = status.ok() ? CheckServing(*status, Processes()) : status.error();
    return last.ok();
  });
  if (!served.ok())
    return Error(Code::kTimeout, fmt::format("{}; last: {}", served.error().message(), last.error().message()));
  return Ok();
}

Result<std::string> ProcessCluster::WaitLog(const std::string& name, const std::string& text, Millis timeout,
                                            std::uint64_t from_byte) {
  std::string line;
  RATCHET_TRY(WaitUntil(fmt::format("'{}' in the log of {}", text, name), timeout, [&] {
    const auto lines = LogLines(name, text, from_byte);
    if (!lines.empty()) line = lines.front();
    return !lines.empty();
  }));
  return line;
}

std::uint64_t ProcessCluster::LogSize(const std::string& name) {
  const auto* info = impl_->Find(name);
  return info == nullptr ? 0 : FileSize(info->log);
}

std::vector<std::string> ProcessCluster::LogLines(const std::string& name, const std::string& containing,
                                                  std::uint64_t from_byte) {
  const auto* info = impl_->Find(name);
  if (info == nullptr) return {};
  return LinesContaining(info->log, containing, impl_->LogFrom(*info, from_byte));
}

Status ProcessCluster::WaitUntil(const std::string& what, Millis timeout, const std::function<bool()>& condition) {
  return chaos::WaitUntil(what, timeout, condition);
}

std::string ProcessCluster::zookeeper() const { return impl_->zookeeper->address(); }
const ClusterSpec& ProcessCluster::spec() const { return impl_->state.spec; }
std::filesystem::path ProcessCluster::root() const { return impl_->state.spec.dir / "root"; }
void ProcessCluster::Detach() { impl_->leave_running = true; }

}  // namespace ratchet::chaos
