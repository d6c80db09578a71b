#include "master/cluster/split_workers.h"

#include <algorithm>

namespace ratchet::master {

std::optional<ServerName> SplitWorkers::Acquire(ProcId procedure, const std::vector<ServerName>& online,
                                                const std::vector<ServerName>& avoid, bool urgent) {
  const auto contains = [](const std::vector<ServerName>& servers, const ServerName& server) {
    return std::find(servers.begin(), servers.end(), server) != servers.end();
  };
  const MutexLock lock(mutex_);
  busy_.erase(procedure);
  std::map<ServerName, std::size_t> load;
  for (const auto& [pid, server] : busy_) ++load[server];
  const auto pick = [&](bool avoided) {
    std::optional<ServerName> best;
    for (const ServerName& server : online) {
      if (contains(avoid, server) != avoided || (!urgent && load[server] >= per_server_)) continue;
      if (!best || load[server] < load[*best]) best = server;
    }
    return best;
  };
  std::optional<ServerName> chosen = pick(false);
  // Waiting makes sense only while a server exists that is not avoided.
  const bool only_avoided =
      std::all_of(online.begin(), online.end(), [&](const ServerName& s) { return contains(avoid, s); });
  if (!chosen && only_avoided) chosen = pick(true);
  if (chosen) busy_[procedure] = *chosen;
  return chosen;
}

void SplitWorkers::Claim(ProcId procedure, const ServerName& server) {
  const MutexLock lock(mutex_);
  busy_[procedure] = server;
}

std::vector<ProcId> SplitWorkers::Holders() const {
  const MutexLock lock(mutex_);
  std::vector<ProcId> holders;
  for (const auto& [pid, server] : busy_) holders.push_back(pid);
  return holders;
}

bool SplitWorkers::Release(ProcId procedure) {
  const MutexLock lock(mutex_);
  return busy_.erase(procedure) > 0;
}

}  // namespace ratchet::master
