#include "master/requests/server_drainer.h"

#include <algorithm>
#include <iterator>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/policy/server_choice.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Returns true if the location has the region, or is about to; a closed region keeps its last location.
bool IsThere(const RegionNode& node) {
  return node.owner.valid() || node.state == RegionState::kOpen || node.state == RegionState::kOpening ||
         node.state == RegionState::kClosing;
}

}  // namespace

void ServerDrainer::ForgetTheGone() {
  const MutexLock lock(mutex_);
  for (auto it = leaving_.begin(); it != leaving_.end();) {
    it = env_.servers.IsOnline(it->first) ? std::next(it) : leaving_.erase(it);
  }
}

bool ServerDrainer::UnderWay(const Move& move) const {
  if (move.submitting) return true;
  return move.pid.valid() && env_.executor->GetResult(move.pid).status == procedure::ProcedureResult::Status::kRunning;
}

std::vector<RegionInfo> ServerDrainer::NextMoves(const ServerName& server, bool* nothing_left) {
  std::vector<RegionNode> here = env_.regions.OnServer(server);
  const auto meta = std::find_if(here.begin(), here.end(), [](const RegionNode& node) { return node.info.IsMeta(); });
  const bool with_meta = meta != here.end();
  if (with_meta) here = {*meta};
  std::vector<RegionInfo> to_move;
  const MutexLock lock(mutex_);
  const auto [of_server, is_new] = leaving_.try_emplace(server);
  Moves& moves = of_server->second;
  if (is_new) RATCHET_LOG(kInfo, "Server {} is stopping; moving its regions to other servers", server.ToString());
  for (auto it = moves.begin(); it != moves.end();) {
    const auto node = env_.regions.Get(it->first);
    const bool arrived = !UnderWay(it->second) && (!node || (!node->owner.valid() && node->location != server));
    it = arrived ? moves.erase(it) : std::next(it);
  }
  bool any = with_meta;
  for (const RegionNode& node : here) {
    if (!IsThere(node)) continue;
    any = true;
    if (node.owner.valid() || node.state != RegionState::kOpen || moves.size() >= kMovesAtOnce) continue;
    const auto [move, added] = moves.try_emplace(node.info.encoded_name());
    if (!added && UnderWay(move->second)) continue;
    move->second = Move{};
    to_move.push_back(node.info);
  }
  *nothing_left = !any && moves.empty();
  return to_move;
}

bool ServerDrainer::OnLeaving(const ServerName& server) {
  ForgetTheGone();
  env_.servers.SetLeaving(server);
  const bool is_last = AssignableServers(env_.servers, env_.decommissions).empty();  // or all servers are leaving
  if (is_last || RATCHET_MUTANT("master.leave_at_once")) return true;
  if (!env_.meta_loaded.load()) return false;  // the server's regions are not known yet
  bool nothing_left = false;
  for (const RegionInfo& region : NextMoves(server, &nothing_left)) {
    env_.executor->SubmitAsync(TransitRegionState::Move(region, std::nullopt), {"master", {}, {}},
                               [this, server, encoded = region.encoded_name()](const Result<ProcId>& pid) {
                                 if (!pid.ok())
                                   RATCHET_LOG(kWarn, "Cannot move region {} off {}: {}", encoded, server.ToString(),
                                               pid.error().ToString());
                                 const MutexLock lock(mutex_);
                                 const auto found = leaving_.find(server);
                                 if (found == leaving_.end()) return;
                                 const auto move = found->second.find(encoded);
                                 if (move != found->second.end())
                                   move->second = Move{false, pid.ok() ? *pid : ProcId()};
                               });
  }
  return nothing_left;
}

}  // namespace ratchet::master
