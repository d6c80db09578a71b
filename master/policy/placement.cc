#include "master/policy/placement.h"

#include <algorithm>
#include <utility>

#include "common/base/mutant.h"

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
  Withdraw(request.encoded);
  if (auto preferred = Prefer(request, assignable)) {
    Plan(request, *preferred);
    return preferred;
  }
  std::vector<ServerName> candidates;
  for (const ServerName& server : assignable) {
    if (!Contains(request.avoid, server)) candidates.push_back(server);
  }
  if (candidates.empty()) candidates = assignable;
  const auto of_table = request.last_host || request.table.empty() ? tables_.end() : tables_.find(request.table);
  const auto count = [](const std::map<ServerName, std::size_t>& counts, const ServerName& server) {
    const auto found = counts.find(server);
    return found == counts.end() ? std::size_t{0} : found->second;
  };
  std::vector<std::pair<std::size_t, std::size_t>> weights;  // regions of the table, then of all tables
  for (const ServerName& server : candidates) {
    weights.emplace_back(of_table == tables_.end() ? 0 : count(of_table->second.placed, server),
                         count(load, server) + count(planned_, server));
  }
  weighed_ += candidates.size();
  // The start rotates, so that equal servers are chosen in turn.
  const std::size_t start = turn_++ % candidates.size();
  std::size_t best = start;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const std::size_t at = (start + i) % candidates.size();
    if (weights[at] < weights[best]) best = at;
  }
  Plan(request, candidates[best]);
  return candidates[best];
}

// The region is planned again, so its previous plan counts for no server.
void Placement::Withdraw(const std::string& encoded) {
  const auto former = plans_.find(encoded);
  if (former == plans_.end() || RATCHET_MUTANT("master.keep_the_former_plan")) return;
  if (!former->second.table.empty()) --tables_[former->second.table].placed[former->second.server];
  Forget(encoded);
}

void Placement::Plan(const PlacementRequest& request, const ServerName& server) {
  plans_.emplace(request.encoded, RegionPlan{server, request.table});
  ++planned_[server];
  if (request.table.empty()) return;
  TablePlans& table = tables_[request.table];
  ++table.placed[server];
  ++table.unsettled;
}

void Placement::Forget(const std::string& encoded) {
  const auto plan = plans_.find(encoded);
  if (plan == plans_.end()) return;
  const auto count = planned_.find(plan->second.server);
  if (--count->second == 0) planned_.erase(count);
  const auto table = tables_.find(plan->second.table);
  if (table != tables_.end() && --table->second.unsettled == 0) tables_.erase(table);
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
