#include "master/rpc/master_gate.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "procedure/api/store.h"

namespace ratchet::master {

Result<ActiveParts> MasterGate::Admit(Need need) const {
  switch (role_.load()) {
    case MasterRole::kStandby:
      return rpc::RemoteError(rpc::exception::kServerNotRunningYet,
                              fmt::format("{} is a standby, not the active master", self_.ToString()));
    case MasterRole::kStopping:
      return rpc::RemoteError(rpc::exception::kMasterStopped, fmt::format("{} is stopping", self_.ToString()));
    case MasterRole::kActivating:
    case MasterRole::kActive: break;
  }
  if (!recovered_.load() || (need != Need::kRecovered && reached_.load() < need)) {
    const auto name = need == Need::kWorkers ? rpc::exception::kServerNotRunningYet : rpc::exception::kPleaseHold;
    return rpc::RemoteError(name, "the master is initializing");
  }
  MutexLock lock(mutex_);
  return parts_;
}

void MasterGate::Elected() {
  active_since_ms_.store(clock_.WallMillis());
  {
    MutexLock lock(mutex_);
    elected_ = clock_.Now();
    active_ = self_;
  }
  role_.store(MasterRole::kActivating);
}

void MasterGate::Recovered(ActiveParts parts) {
  {
    MutexLock lock(mutex_);
    parts_ = parts;
  }
  recovered_.store(true);
}

void MasterGate::Ready() {
  reached_.store(Need::kReady);
  MasterRole expected = MasterRole::kActivating;
  role_.compare_exchange_strong(expected, MasterRole::kActive);
}

void MasterGate::Stopping() { role_.store(MasterRole::kStopping); }

Millis MasterGate::since_elected() const {
  MutexLock lock(mutex_);
  if (elected_ == TimePoint{}) return Millis{0};
  return std::chrono::duration_cast<Millis>(clock_.Now() - elected_);
}

void MasterGate::BeginStep(const std::string& name) {
  MutexLock lock(mutex_);
  step_began_ = clock_.Now();
  steps_.push_back({name, std::chrono::duration_cast<Millis>(step_began_ - elected_), std::nullopt, {}});
  RATCHET_LOG(kInfo, "activation: {} (+{} ms)", name, steps_.back().started.count());
}

void MasterGate::EndStep(const std::string& detail) {
  MutexLock lock(mutex_);
  if (steps_.empty() || steps_.back().took.has_value()) return;
  ActivationStepView& step = steps_.back();
  step.took = std::chrono::duration_cast<Millis>(clock_.Now() - step_began_);
  step.detail = detail;
  RATCHET_LOG(kInfo, "activation: {} done in {} ms{}{}", step.name, step.took->count(), detail.empty() ? "" : ": ",
              detail);
}

void MasterGate::SetActiveMaster(std::optional<ServerName> active) {
  MutexLock lock(mutex_);
  active_ = std::move(active);
}

void MasterGate::SetProblem(OwnProblem kind, const std::string& text) {
  const MutexLock lock(mutex_);
  if (text.empty()) {
    problems_.erase(kind);
  } else {
    problems_[kind] = text;
  }
}

std::map<OwnProblem, std::string> MasterGate::problems() const {
  const MutexLock lock(mutex_);
  return problems_;
}

std::optional<ServerName> MasterGate::active_master() const {
  MutexLock lock(mutex_);
  return active_;
}

std::vector<ActivationStepView> MasterGate::steps() const {
  MutexLock lock(mutex_);
  return steps_;
}

Status CheckBeforeReply(const ActiveParts& parts) {
  const Status owner = parts.store->Check();
  if (owner.ok() || RATCHET_MUTANT("master.skip_reply_check")) return Ok();
  return rpc::RemoteError(rpc::exception::kMasterStopped,
                          fmt::format("another master owns the cluster: {}", owner.error().message()));
}

}  // namespace ratchet::master
