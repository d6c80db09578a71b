#include "master/process/death_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"

namespace ratchet::master {

bool MassRule::Believe(TimePoint now, std::size_t servers) {
  while (!found_.empty() && now - found_.front() > kWithin) found_.pop_front();
  const std::size_t earlier = found_.size();
  found_.push_back(now);
  // `servers` no longer includes the servers that were found dead earlier.
  const std::size_t most = std::max<std::size_t>(1, (servers + earlier) / 3);
  return earlier + 1 <= most || RATCHET_MUTANT("master.believe_any_number");
}

DeathWatch::DeathWatch(Deps deps) : deps_(std::move(deps)) {}

DeathWatch::~DeathWatch() { Stop(); }

void DeathWatch::HeardFrom(const ServerName& server, std::uint64_t connection) {
  const MutexLock lock(mutex_);
  if (const auto known = newest_.find(server); known != newest_.end()) {
    if (known->second == connection) return;
    connections_.erase(known->second);  // its end no longer means anything
  } else if (newest_.size() >= kMostConnections) {
    return;
  }
  newest_[server] = connection;
  connections_[connection] = server;
}

void DeathWatch::ConnectionEnded(std::uint64_t connection) {
  ServerName server;
  {
    const MutexLock lock(mutex_);
    const auto found = connections_.find(connection);
    if (found == connections_.end()) return;
    server = found->second;
    connections_.erase(found);
    newest_.erase(server);
    if (stopping_) return;
  }
  if (inquiries_.Submit({[this, server] { Inquire(server); }})) return;
  RATCHET_LOG(kWarn, "{} lost its connection; {} servers wait to be probed already, so ZooKeeper decides",
              server.ToString(), kMostWaiting);
  const MutexLock lock(mutex_);
  ++counts_.too_many;
}

void DeathWatch::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  inquiries_.Stop();
}

DeathWatch::Counts DeathWatch::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

bool DeathWatch::Pause(Millis duration) {
  const TimePoint until = deps_.clock.Now() + duration;
  MutexLock lock(mutex_);
  while (!stopping_) {
    const auto left = std::chrono::ceil<Millis>(until - deps_.clock.Now());
    if (left <= Millis{0}) return true;
    changed_.WaitFor(mutex_, left);
  }
  return false;
}

bool DeathWatch::Believe() {
  const std::size_t servers = deps_.online().size();
  const MutexLock lock(mutex_);
  return mass_.Believe(deps_.clock.Now(), servers);
}

void DeathWatch::Inquire(const ServerName& suspect) {
  const auto count = [this](std::uint64_t Counts::*of) {
    const MutexLock lock(mutex_);
    ++(counts_.*of);
  };
  const auto is_online = [this, &suspect] {
    const auto online = deps_.online();
    return std::find(online.begin(), online.end(), suspect) != online.end();
  };
  if (!is_online()) return;  // a clean stop, or it is expired already
  const auto verdict = rpc::RunProbeSeries(
      deps_.clock, [this, &suspect] { return deps_.probe(suspect); }, [this](Millis wait) { return Pause(wait); });
  if (verdict == rpc::ProbeVerdict::kAlive) return count(&Counts::alive);
  if (verdict == rpc::ProbeVerdict::kNoFinding) {
    RATCHET_LOG(kInfo, "{} lost its connection to this master; probes are inconclusive, so ZooKeeper decides",
                suspect.ToString());
    return count(&Counts::no_finding);
  }
  const std::string confirmed = ConfirmDeath(suspect, deps_.online(), deps_.ask);
  if (confirmed.empty() && !RATCHET_MUTANT("master.believe_own_probe")) {
    RATCHET_LOG(kInfo, "{} refuses connections of this master; no other server confirms it, so ZooKeeper decides",
                suspect.ToString());
    return count(&Counts::not_confirmed);
  }
  if (!is_online()) return;
  if (!Believe()) {
    RATCHET_LOG(kWarn, "{} seems dead, but too many servers seem dead at once, so ZooKeeper decides",
                suspect.ToString());
    return count(&Counts::too_many);
  }
  deps_.expire(suspect, fmt::format("connection refused: its process is gone, because its connection ended and its "
                                    "address refuses connections of this master and of {}",
                                    confirmed));
  count(&Counts::gone);
}

}  // namespace ratchet::master
