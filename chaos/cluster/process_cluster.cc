#include "chaos/cluster/process_cluster.h"

#include <signal.h>

#include <cstdlib>
#include <utility>

#include "chaos/cluster/cluster_processes.h"
#include "common/base/setting_value.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kKillPatience{10'000};

}  // namespace

ProcessCluster::ProcessCluster(std::unique_ptr<ClusterProcesses> processes) : impl_(std::move(processes)) {}

ProcessCluster::~ProcessCluster() {
  if (impl_->leave_running) return;
  KillAll();
  IgnoreResult(RemoveStorage(), "its directory lists what is left");
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
  RATCHET_TRY(CheckZooKeeperMembers(spec.zookeepers));
  if (const char* session = std::getenv("RATCHET_TEST_SESSION_MS")) {
    RATCHET_ASSIGN(spec.session_timeout, ParseMillis(session));
  }
  for (const char* folder : {"root", "logs"}) {
    if (!std::filesystem::create_directories(spec.dir / folder, failed) && failed) {
      return Error(Code::kIo, fmt::format("cannot make {}: {}", (spec.dir / folder).string(), failed.message()));
    }
  }
  // S160 (the root is its user's), whatever the umask of this process is.
  std::filesystem::permissions(spec.dir / "root", std::filesystem::perms::owner_all, failed);

  auto impl = std::make_unique<ClusterProcesses>();
  impl->state.spec = spec;
  impl->leave_running = spec.detached;
  RATCHET_TRY(impl->FindStorage());
  if (impl->ceph != nullptr) {
    if (const Status up = impl->ceph->Up(); !up.ok()) {
      IgnoreResult(impl->ceph->Down(), "the earlier error is returned");
      return up.error();
    }
  }
  for (int i = 1; i <= spec.zookeepers; ++i) {
    RATCHET_TRY(impl->AddProcess(ZooKeeperName(i, spec.zookeepers), Role::kZooKeeper));
  }
  RATCHET_ASSIGN(impl->state.zookeeper_peers, ZooKeeperEnsemble::PickPeers(spec.zookeepers));
  RATCHET_TRY(impl->PrepareZooKeepers());
  for (int i = 1; i <= spec.masters; ++i) {
    RATCHET_TRY(impl->AddProcess(fmt::format("master-{}", i), Role::kMaster));
  }
  for (int i = 1; i <= spec.servers; ++i) {
    RATCHET_TRY(impl->AddProcess(fmt::format("rs-{}", i), Role::kRegionServer));
  }
  std::unique_ptr<ProcessCluster> cluster(new ProcessCluster(std::move(impl)));
  RATCHET_TRY(cluster->impl_->StartAllZooKeepers());
  return cluster;
}

Result<std::unique_ptr<ProcessCluster>> ProcessCluster::Attach(const std::filesystem::path& dir) {
  auto impl = std::make_unique<ClusterProcesses>();
  RATCHET_ASSIGN(impl->state, LoadState(dir));
  impl->leave_running = true;
  RATCHET_TRY(impl->FindStorage());
  if (impl->state.spec.zookeepers == 0) return Error(Code::kCorruption, "cluster.state names no ZooKeeper");
  RATCHET_TRY(impl->PrepareZooKeepers());
  for (auto& process : impl->state.processes) {
    process.paused = KernelState(process.id) == 'T';
    static_cast<void>(ReservePort(process.port));  // false: another tool of this cluster has reserved it
  }
  return std::unique_ptr<ProcessCluster>(new ProcessCluster(std::move(impl)));
}

Status ProcessCluster::KeepSettings(const Environment& settings) {
  for (const auto& [name, value] : settings) impl_->state.settings[name] = value;
  return SaveState(impl_->state);
}

Status ProcessCluster::StartAll(Millis timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  RATCHET_TRY(impl_->StartAllZooKeepers());
  for (const Role role : {Role::kMaster, Role::kRegionServer}) {
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

Status ProcessCluster::StartZooKeepers(const std::vector<std::string>& names) { return impl_->StartZooKeepers(names); }

Status ProcessCluster::Start(const std::string& name, const Environment& extra, const std::vector<std::string>& flags) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->Require(name));
  if (info->role == Role::kZooKeeper) return impl_->StartZooKeepers({name});
  if (info->id.pid != 0) return Error(Code::kFailedPrecondition, name + " runs already");
  if (impl_->ceph != nullptr) RATCHET_TRY(impl_->ceph->Mount(name));
  ClusterProcesses::NoteStart(*info);
  impl_->NoteChange(*info, ProcessChange::What::kStart);
  RATCHET_ASSIGN(info->id, Launch(impl_->ServerLaunch(*info, extra, flags)));
  return SaveState(impl_->state);
}

Status ProcessCluster::FindReleased(const std::filesystem::path& directory) {
  RATCHET_ASSIGN(ReleasedPrograms found, ReleasedPrograms::Find(directory));
  impl_->released = std::make_unique<ReleasedPrograms>(std::move(found));
  return Ok();
}

const ReleasedPrograms* ProcessCluster::released() const { return impl_->released.get(); }

Status ProcessCluster::UseReleased(const std::string& name, bool released) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->Require(name));
  if (info->role == Role::kZooKeeper) return Error(Code::kInvalidArgument, name + " has no other version");
  if (released && impl_->released == nullptr) {
    return Error(Code::kFailedPrecondition, "no servers of a release are known: FindReleased");
  }
  info->released = released;
  return Ok();
}

Status ProcessCluster::Kill9(const std::string& name) { return impl_->SignalAndAwait(name, SIGKILL, kKillPatience); }

Status ProcessCluster::Stop(const std::string& name, Millis timeout) {
  const auto stopped = impl_->SignalAndAwait(name, SIGTERM, timeout);
  if (!stopped.ok() && stopped.error().code() == Code::kTimeout) RATCHET_TRY(Kill9(name));
  return stopped;
}

Status ProcessCluster::Pause(const std::string& name) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->RequireRunning(name));
  impl_->NoteChange(*info, ProcessChange::What::kPause);
  RATCHET_TRY(Signal(info->id, SIGSTOP));
  RATCHET_TRY(WaitUntil(name + " has stopped", kKillPatience, [&] { return KernelState(info->id) == 'T'; }));
  info->paused = true;
  return Ok();
}

Status ProcessCluster::Resume(const std::string& name) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->RequireRunning(name));
  RATCHET_TRY(Signal(info->id, SIGCONT));
  impl_->NoteChange(*info, ProcessChange::What::kResume);
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
      impl_->NoteChange(*info, ProcessChange::What::kAskToStop);
      if (Signal(info->id, SIGTERM).ok()) stopping.push_back(info);
      if (KernelState(info->id) == 'T') IgnoreResult(Signal(info->id, SIGCONT), "the end is checked below");
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

const CephStorage* ProcessCluster::ceph() const { return impl_->ceph.get(); }

Status ProcessCluster::RemoveStorage() { return impl_->ceph == nullptr ? Ok() : impl_->ceph->Down(); }

Result<int> ProcessCluster::WaitExit(const std::string& name, Millis timeout) {
  RATCHET_ASSIGN(ProcessInfo * info, impl_->Require(name));
  RATCHET_TRY(impl_->AwaitEnd(*info, timeout));
  if (!info->exit_code)
    return Error(Code::kFailedPrecondition, name + " was not started by this process: its exit code is unknown");
  return *info->exit_code;
}

bool ProcessCluster::Running(const std::string& name) { return impl_->RequireRunning(name).ok(); }

ProcessInfo ProcessCluster::Info(const std::string& name) {
  const auto info = impl_->Require(name);
  if (!info.ok()) return ProcessInfo{};
  ClusterProcesses::FollowLog(**info);
  return **info;
}

std::vector<ProcessInfo> ProcessCluster::Processes() {
  for (auto& info : impl_->state.processes) {
    impl_->Refresh(info);
    ClusterProcesses::FollowLog(info);
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

Status ProcessCluster::WaitUntil(const std::string& what, Millis timeout, const std::function<bool()>& condition) {
  return chaos::WaitUntil(what, timeout, condition);
}

std::string ProcessCluster::zookeeper() const { return impl_->zookeepers.addresses(); }
const std::vector<ProcessChange>& ProcessCluster::changes() const { return impl_->changes; }
const ClusterSpec& ProcessCluster::spec() const { return impl_->state.spec; }
std::filesystem::path ProcessCluster::root() const { return impl_->RootOf("observer"); }
void ProcessCluster::Detach() { impl_->leave_running = true; }

}  // namespace ratchet::chaos
