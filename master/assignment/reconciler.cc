#include "master/assignment/reconciler.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/assignment/region_directory.h"
#include "master/env/master_env.h"
#include "master/procedures/transit_region_state.h"
#include "master/server/server_manager.h"
#include "procedure/executor.h"

namespace ratchet::master {

namespace {

constexpr std::size_t kFindingsKept = 200;

// Why the server should not have this region open; empty: it is fine, or cannot be judged now.
std::string Contradiction(const std::optional<RegionNode>& node, const ServerName& server, const OnlineRegion& online,
                          TimePoint now, Millis grace) {
  if (!node) return "the region is not known";
  if (node->owner.valid() || now - node->last_update < grace) return {};
  if (node->location != server) {
    return fmt::format("the region is {} {}", RegionStateText(node->state),
                       node->location ? "at " + node->location->ToString() : "nowhere");
  }
  if (online.open_seq != 0 && node->open_order.valid() && online.open_seq != node->open_order.value()) {
    return fmt::format("opening {} is current, not {}", node->open_order, online.open_seq);
  }
  return {};
}

}  // namespace

void Reconciler::Note(const ServerName& server, const std::string& encoded, std::string what) {
  RATCHET_LOG(kWarn, "Reconciler: server {}, region {}: {}", server.ToString(), encoded, what);
  findings_.push_back({env_.clock.WallMillis(), server, encoded, std::move(what)});
  if (findings_.size() > kFindingsKept) findings_.erase(findings_.begin());
}

void Reconciler::OnHeartbeat(const ServerName& server, const std::vector<OnlineRegion>& online) {
  const TimePoint now = env_.clock.Now();
  std::set<std::string> listed;
  std::map<std::string, std::string> contradictions;
  for (const OnlineRegion& region : online) {
    listed.insert(region.encoded);
    std::string why = Contradiction(env_.regions.Get(region.encoded), server, region, now, options_.grace);
    if (!why.empty()) contradictions.emplace(region.encoded, std::move(why));
  }
  std::vector<RegionNode> missing;
  for (const RegionNode& node : env_.regions.OnServer(server)) {
    const bool settled = node.state == RegionState::kOpen && !node.owner.valid() && now - node.last_update >= options_.grace;
    if (settled && !listed.contains(node.info.encoded_name())) missing.push_back(node);
  }
  std::string expire;
  {
    const MutexLock lock(mutex_);
    auto& strikes = strikes_[server];
    std::map<std::string, std::uint32_t> next;
    for (auto& [encoded, why] : contradictions) {
      const std::uint32_t count = strikes[encoded] + 1;
      next[encoded] = count;
      Note(server, encoded, fmt::format("says it is open there; {} (heartbeat {} of {})", why, count, options_.strikes));
      if (count >= options_.strikes) expire = fmt::format("goes on serving region {} although {}", encoded, why);
    }
    for (const RegionNode& node : missing) Note(server, node.info.encoded_name(), "is not open there any more: opened again");
    strikes = std::move(next);
    if (!expire.empty()) strikes_.erase(server);
  }
  if (!expire.empty()) {
    env_.servers.Expire(server, expire);
    return;
  }
  // Closing what is not there is answered (S20), and opening it again puts it in order.
  for (const RegionNode& node : missing) {
    env_.regions.Update(node.info.encoded_name(), [](RegionNode&) {});  // a fresh picture: not again for a while
    env_.executor->SubmitAsync(TransitRegionState::Reopen(node.info), {"master", {}, {}}, [](const Result<ProcId>&) {});
  }
}

void Reconciler::Sweep() {
  if (!env_.meta_loaded.load()) return;
  env_.servers.Sweep();
  std::map<ServerName, std::string> nobody;
  for (const RegionNode& node : env_.regions.All()) {
    if (node.owner.valid() || !node.location || env_.clock.Now() - node.last_update < options_.grace) continue;
    if (!env_.servers.PhaseOf(*node.location)) nobody.emplace(*node.location, node.info.encoded_name());
  }
  for (const auto& [server, encoded] : nobody) {
    {
      const MutexLock lock(mutex_);
      Note(server, encoded, "has the region, but nobody knows the server: it is taken for dead");
    }
    env_.servers.ExpireUnknown(server, "a region is said to be there, and nobody knows it");
  }
}

std::vector<ReconcilerFinding> Reconciler::Findings() const {
  const MutexLock lock(mutex_);
  return findings_;
}

}  // namespace ratchet::master
