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

// The first of the servers in question rotates, so that equal servers are chosen in turn.
std::vector<ServerName> Placement::Candidates(const PlacementRequest& request,
                                              const std::vector<ServerName>& assignable) {
  std::size_t start = 0;
  {
    const MutexLock lock(mutex_);
    start = turn_++;
  }
  std::vector<ServerName> candidates;
  const auto add = [&](bool avoids) {
    for (std::size_t i = 0; i < assignable.size() && candidates.size() < kComparedAtOnce; ++i) {
      const ServerName& server = assignable[(start + i) % assignable.size()];
      if (!avoids || !Contains(request.avoid, server)) candidates.push_back(server);
    }
  };
  add(/*avoids=*/true);
  if (candidates.empty()) add(/*avoids=*/false);
  return candidates;
}

std::optional<ServerName> Placement::Choose(const PlacementRequest& request, const std::vector<ServerName>& assignable,
                                            const LoadOf& load_of) {
  if (assignable.empty()) return std::nullopt;
  const auto preferred = Prefer(request, assignable);
  const std::vector<ServerName> candidates =
      preferred ? std::vector<ServerName>{*preferred} : Candidates(request, assignable);
  const std::vector<std::size_t> loads = load_of(candidates);
  const MutexLock lock(mutex_);
  Withdraw(request.encoded);
  const auto of_table = request.last_host || request.table.empty() ? tables_.end() : tables_.find(request.table);
  const auto count = [](const std::map<ServerName, std::size_t>& counts, const ServerName& server) {
    const auto found = counts.find(server);
    return found == counts.end() ? std::size_t{0} : found->second;
  };
  std::size_t best = 0;
  std::pair<std::size_t, std::size_t> least;  // regions of the table, then of all tables
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::pair<std::size_t, std::size_t> weight{
        of_table == tables_.end() ? 0 : count(of_table->second.placed, candidates[i]),
        loads[i] + count(planned_, candidates[i])};
    if (i > 0 && weight >= least) continue;
    best = i;
    least = weight;
  }
  weighed_ += candidates.size();
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
