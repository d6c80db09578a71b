// Roles of the processes of a ProcessCluster, its readiness, and searches in its logs.
#include <utility>

#include "chaos/cluster/cluster_processes.h"
#include "chaos/cluster/process_cluster.h"

namespace ratchet::chaos {

Result<std::string> ProcessCluster::ActiveMaster() {
  RATCHET_ASSIGN(const ServerName registered, impl_->view->RegisteredMaster());
  const std::string name = impl_->NameAtPort(registered.port, Role::kMaster);
  if (name.empty()) return Error(Code::kNotFound, registered.ToString() + " is active and not of this cluster");
  if (!Running(name)) return Error(Code::kNotFound, name + " is still registered as active but does not run");
  return name;
}

ZooKeeperState ProcessCluster::ZooKeeperStateOf(const std::string& name) { return impl_->zookeepers.StateOf(name); }

Result<pb::GetStatusResponse> ProcessCluster::StatusOf(const std::string& name) {
  RATCHET_ASSIGN(const ProcessInfo* info, impl_->RequireRunning(name));
  return impl_->view->StatusAt(info->port);
}

Result<std::string> ProcessCluster::MetaHolder() {
  RATCHET_ASSIGN(const std::string active, ActiveMaster());
  RATCHET_ASSIGN(const auto status, StatusOf(active));
  if (!status.has_meta_server()) return Error(Code::kNotFound, "no server carries meta");
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

Result<std::string> ProcessCluster::ServingMaster(bool none_in_transition) {
  RATCHET_ASSIGN(std::string active, ActiveMaster());
  RATCHET_ASSIGN(const auto status, StatusOf(active));
  RATCHET_TRY(CheckServing(status, Processes(), none_in_transition));
  RATCHET_TRY(impl_->CheckZooKeepers());
  return active;
}

Status ProcessCluster::WaitServing(Millis timeout) {
  Status last = Error(Code::kUnavailable, "no attempt was made yet");
  const auto served = WaitUntil("a serving cluster", timeout, [&] {
    const auto serving = ServingMaster(true);
    last = serving.ok() ? Ok() : Status(serving.error());
    return last.ok();
  });
  if (!served.ok())
    return Error(Code::kTimeout, fmt::format("{}; last: {}", served.error().message(), last.error().message()));
  return Ok();
}

Status ProcessCluster::CheckRecovered(TransitionWatch& watch) {
  const auto look = [&]() -> Result<TransitionWatch::Transitions> {
    RATCHET_ASSIGN(const std::string active, ServingMaster(false));
    RATCHET_ASSIGN(const ProcessInfo* master, impl_->RequireRunning(active));
    return impl_->view->TransitionsAt(master->port);
  };
  const auto transitions = look();
  if (!transitions.ok()) {
    watch.Reset();
    return transitions.error();
  }
  if (watch.HaveEnded(*transitions)) return Ok();
  return Error(Code::kUnavailable, "transitions of regions do not end");
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

void ProcessCluster::ReadLog(const std::string& name, const std::function<void(const std::string& line)>& line) {
  if (const auto* info = impl_->Find(name)) FollowLines(info->log, 0, line);
}

}  // namespace ratchet::chaos
