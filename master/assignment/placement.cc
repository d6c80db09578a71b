#include "master/assignment/placement.h"

#include <algorithm>

namespace ratchet::master {
namespace {

bool Contains(const std::vector<ServerName>& servers, const ServerName& server) {
  return std::find(servers.begin(), servers.end(), server) != servers.end();
}

}  // namespace

std::optional<ServerName> Placement::Prefer(const PlacementRequest& request, const std::vector<ServerName>& assignable) const {
  if (request.target && Contains(assignable, *request.target) && !Contains(request.avoid, *request.target)) {
    return request.target;
  }
  if (!request.retain || !request.last_host) return std::nullopt;
  for (const ServerName& server : assignable) {
    if (server.SameAddress(*request.last_host) && !Contains(request.avoid, server)) return server;
  }
  return std::nullopt;
}

std::optional<ServerName> Placement::Choose(const PlacementRequest& request, const std::vector<ServerName>& assignable,
                                            const std::map<ServerName, std::size_t>& load) {
  if (assignable.empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  if (auto preferred = Prefer(request, assignable)) {
    plans_[request.encoded] = *preferred;
    return preferred;
  }
  std::map<ServerName, std::size_t> planned;
  for (const auto& [encoded, server] : plans_) ++planned[server];
  std::vector<ServerName> candidates;
  for (const ServerName& server : assignable) {
    if (!Contains(request.avoid, server)) candidates.push_back(server);
  }
  if (candidates.empty()) candidates = assignable;
  const auto weight = [&](const ServerName& server) {
    const auto open = load.find(server);
    const auto plan = planned.find(server);
    return (open == load.end() ? 0 : open->second) + (plan == planned.end() ? 0 : plan->second);
  };
  // Starting at another place each time makes equals take turns.
  const std::size_t start = turn_++ % candidates.size();
  std::size_t best = start;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const std::size_t at = (start + i) % candidates.size();
    if (weight(candidates[at]) < weight(candidates[best])) best = at;
  }
  plans_[request.encoded] = candidates[best];
  return candidates[best];
}

void Placement::Settled(const std::string& encoded) {
  const MutexLock lock(mutex_);
  plans_.erase(encoded);
}

}  // namespace ratchet::master
