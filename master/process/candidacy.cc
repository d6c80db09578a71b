#include "master/process/candidacy.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::master {
namespace {
constexpr Millis kWakesAtLeast{1'000};
constexpr Millis kCompareTimeout{5'000};
}  // namespace

void Candidacy::Stand(Deps deps) {
  deps_ = std::make_unique<const Deps>(std::move(deps));
  zk::MasterElection::Callbacks callbacks;
  callbacks.on_elected = [this] {
    if (deps_->follow) deps_->follow(std::nullopt);
    const MutexLock lock(mutex_);
    elected_ = true;
    changed_.NotifyAll();
  };
  callbacks.on_lost = [this](const std::string& why) { end_(exit_code::kSessionExpired, "election lost: " + why); };
  callbacks.on_active_changed = [this](const std::optional<ServerName>& who) { ActiveChanged(who); };
  callbacks.on_obstacle = [this](const std::string& why) { deps_->gate.SetProblem(OwnProblem::kElection, why); };
  election_ = std::make_unique<zk::MasterElection>(deps_->session, deps_->paths, deps_->self, std::move(callbacks));
  election_->Start();
}

void Candidacy::ActiveChanged(const std::optional<ServerName>& who) {
  RATCHET_LOG(kInfo, "Active master: {}", who.has_value() ? who->ToString() : "none");
  if (deps_->gate.role() == MasterRole::kStandby) deps_->gate.SetActiveMaster(who);
  const bool is_other = who.has_value() && *who != deps_->self.server;
  if (is_other) CompareClusters(*who);
  if (deps_->follow) deps_->follow(is_other ? who : std::nullopt);
}

void Candidacy::CompareClusters(const ServerName& other) {
  rpc::CallOptions options;
  options.timeout = kCompareTimeout;
  deps_->channels.Call(methods::kGetStatus, {other.host, other.port}, ::ratchet::pb::GetStatusRequest(),
                       std::move(options), [this, other](const auto& reply) {
                         if (!reply.ok() || !reply->message.has_cluster_id()) return;
                         const std::string& theirs = reply->message.cluster_id();
                         if (theirs == deps_->cluster_id) return;
                         end_(exit_code::kWrongCluster,
                              fmt::format("the active master {} belongs to cluster {}, --root {} to cluster {}",
                                          other.ToString(), theirs, deps_->root, deps_->cluster_id));
                       });
}

bool Candidacy::AwaitElection() {
  const MutexLock lock(mutex_);
  while (!elected_ && !exit_.requested().has_value()) changed_.WaitFor(mutex_, kWakesAtLeast);
  return elected_ && !exit_.requested().has_value();
}

void Candidacy::Wake() {
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

void Candidacy::Stop() {
  if (election_ != nullptr) election_->Stop();
}

std::vector<ServerName> Candidacy::Backups() const {
  const MutexLock lock(mutex_);
  return backups_;
}

void Candidacy::ReadBackups() {
  auto read = zk::ReadBackupMasters(deps_->session, deps_->paths);
  if (!read.ok()) return;
  const MutexLock lock(mutex_);
  backups_ = *std::move(read);
}

}  // namespace ratchet::master
