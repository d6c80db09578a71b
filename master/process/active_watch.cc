#include "master/process/active_watch.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

ActiveWatch::ActiveWatch(Deps deps) : deps_(std::move(deps)), thread_([this] { Work(); }) {}

ActiveWatch::~ActiveWatch() { Stop(); }

void ActiveWatch::Follow(const std::optional<ServerName>& active) {
  const MutexLock lock(mutex_);
  active_ = active;
  changed_.NotifyAll();
}

void ActiveWatch::ConnectionEnded(const rpc::Endpoint& endpoint) {
  const MutexLock lock(mutex_);
  if (!active_.has_value() || active_->host != endpoint.host || active_->port != endpoint.port) return;
  ended_ = true;
  changed_.NotifyAll();
}

void ActiveWatch::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

ActiveWatch::Counts ActiveWatch::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

void ActiveWatch::Work() {
  SetThreadName("active-watch");
  while (true) {
    ServerName active;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && !active_.has_value()) changed_.Wait(mutex_);
      if (stopping_) return;
      active = *active_;
      ended_ = false;  // before the call, so that an end after its answer is not missed
    }
    if (deps_.reaches(active)) {
      AwaitPulse(active);
      continue;
    }
    Inquire(active);
    static_cast<void>(Pause(active, kInquiriesApart));
  }
}

void ActiveWatch::AwaitPulse(const ServerName& active) {
  const TimePoint until = deps_.clock.Now() + kPulse;
  const MutexLock lock(mutex_);
  while (!stopping_ && active_ == active && !ended_) {
    const auto left = std::chrono::ceil<Millis>(until - deps_.clock.Now());
    if (left <= Millis{0}) return;
    changed_.WaitFor(mutex_, left);
  }
}

bool ActiveWatch::Follows(const ServerName& suspect) const {
  const MutexLock lock(mutex_);
  return !stopping_ && active_ == suspect;
}

bool ActiveWatch::Pause(const ServerName& suspect, Millis duration) {
  const TimePoint until = deps_.clock.Now() + duration;
  const MutexLock lock(mutex_);
  while (!stopping_ && active_ == suspect) {
    const auto left = std::chrono::ceil<Millis>(until - deps_.clock.Now());
    if (left <= Millis{0}) return true;
    changed_.WaitFor(mutex_, left);
  }
  return false;
}

// A state that lasts is logged once, not at each inquiry.
void ActiveWatch::Tell(std::string text) {
  if (text == told_) return;
  told_ = std::move(text);
  RATCHET_LOG(kInfo, "{}", told_);
}

void ActiveWatch::Inquire(const ServerName& suspect) {
  const auto count = [this](std::uint64_t Counts::*of) {
    const MutexLock lock(mutex_);
    ++(counts_.*of);
  };
  const auto verdict = rpc::RunProbeSeries(
      deps_.clock, [this, &suspect] { return deps_.probe(suspect); },
      [this, &suspect](Millis wait) { return Pause(suspect, wait); });
  if (verdict == rpc::ProbeVerdict::kAlive) {
    told_.clear();
    return count(&Counts::alive);
  }
  if (!Follows(suspect)) return;
  if (verdict == rpc::ProbeVerdict::kNoFinding) {
    Tell(fmt::format("the active master {} does not answer; probes are inconclusive, so ZooKeeper decides",
                     suspect.ToString()));
    return count(&Counts::no_finding);
  }
  const std::string confirmed = ConfirmDeath(suspect, deps_.region_servers(), deps_.ask);
  if (confirmed.empty() && !RATCHET_MUTANT("master.believe_own_probe_of_master")) {
    Tell(
        fmt::format("the active master {} refuses connections of this master; no region server confirms it, so "
                    "ZooKeeper decides",
                    suspect.ToString()));
    return count(&Counts::not_confirmed);
  }
  if (!Follows(suspect)) return;
  deps_.remove(suspect, fmt::format("its address refuses connections of this master and of {}", confirmed));
  count(&Counts::gone);
}

}  // namespace ratchet::master
