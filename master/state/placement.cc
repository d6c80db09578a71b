#include "master/state/placement.h"

#include <algorithm>

namespace ratchet::master {
namespace {

bool Contains(const std::vector<ServerName>& servers, const ServerName& server) {
  return std::find(servers.begin(), servers.end(), server) != servers.end();
}

}  // namespace

std::optional<ServerName> Placement::Prefer(const PlacementRequest& request,
                                            const std::vector<ServerName>& assignable) const {
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
    Plan(request.encoded, *preferred);
    return preferred;
  }
  std::vector<ServerName> candidates;
  for (const ServerName& server : assignable) {
    if (!Contains(request.avoid, server)) candidates.push_back(server);
  }
  if (candidates.empty()) candidates = assignable;
  std::vector<std::size_t> weights;
  for (const ServerName& server : candidates) {
    const auto open = load.find(server);
    const auto plan = planned_.find(server);
    weights.push_back((open == load.end() ? 0 : open->second) + (plan == planned_.end() ? 0 : plan->second));
  }
  weighed_ += candidates.size();
  // Starting at another place each time makes equals take turns.
  const std::size_t start = turn_++ % candidates.size();
  std::size_t best = start;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const std::size_t at = (start + i) % candidates.size();
    if (weights[at] < weights[best]) best = at;
  }
  Plan(request.encoded, candidates[best]);
  return candidates[best];
}

void Placement::Plan(const std::string& encoded, const ServerName& server) {
  Forget(encoded);
  plans_.emplace(encoded, server);
  ++planned_[server];
}

void Placement::Forget(const std::string& encoded) {
  const auto plan = plans_.find(encoded);
  if (plan == plans_.end()) return;
  const auto count = planned_.find(plan->second);
  if (--count->second == 0) planned_.erase(count);
  plans_.erase(plan);
}

void Placement::Settled(const std::string& encoded) {
  const MutexLock lock(mutex_);
  Forget(encoded);
}

std::uint64_t Placement::weighed() const {
  const MutexLock lock(mutex_);
  return weighed_;
}

}  // namespace ratchet::master
