#include "master/control/balancer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "master/env/master_env.h"
#include "master/state/balance_plan.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

// Counts the moves of one request, and calls `done` with the last of them.
class Counted {
 public:
  using Done = std::function<void(Result<Balancer::Outcome>)>;
  Counted(std::size_t planned, std::size_t asked, Done done) : left_(asked), done_(std::move(done)) {
    outcome_.planned = planned;
  }
  void Take(bool begun) {
    Balancer::Outcome outcome;
    {
      const MutexLock lock(mutex_);
      outcome_.begun += begun ? 1 : 0;
      if (--left_ > 0) return;
      outcome = outcome_;
    }
    done_(std::move(outcome));
  }

 private:
  Mutex mutex_;
  std::size_t left_ GUARDED_BY(mutex_);
  Balancer::Outcome outcome_ GUARDED_BY(mutex_);
  const Done done_;
};

}  // namespace

void Balancer::Balance(const Request& request, std::function<void(Result<Outcome>)> done) {
  if (!env_.meta_loaded.load()) return done(PleaseHold("the master is starting: hbase:meta is not loaded yet"));
  std::vector<BalancedRegion> regions;
  std::size_t in_transition = 0;
  env_.regions.Visit([&](const RegionNode& node) {
    if (node.owner.valid() || !IsAtRest(node.state)) ++in_transition;
    if (!node.location) return;
    const bool movable = node.state == RegionState::kOpen && !node.owner.valid() && !node.info.IsMeta();
    regions.push_back({node.encoded, node.info.table.ToString(), *node.location, movable});
  });
  if (const auto crashes = env_.executor->FindUnfinished("ServerCrash"); !crashes.empty()) {
    return done(Outcome{fmt::format("pid={} recovers a dead server", crashes.front()), 0, 0});
  }
  if (in_transition > 0 && !request.despite_regions_in_transition) {
    return done(Outcome{fmt::format("{} regions are in transition", in_transition), 0, 0});
  }
  std::vector<BalanceMove> moves = PlanBalance(env_.servers.Takers(), std::move(regions));
  const std::size_t planned = moves.size();
  moves.resize(std::min(planned, kMovesAtOnce));
  if (request.dry_run || moves.empty()) return done(Outcome{{}, planned, 0});
  RATCHET_LOG(kInfo, "Balance, asked for by {}: {} moves, {} of them now", request.user, planned, moves.size());
  const auto counted = std::make_shared<Counted>(planned, moves.size(), std::move(done));
  for (BalanceMove& move : moves) {
    tables_.MoveRegion(move.encoded, {move.to}, {request.user, {}}, [counted, move](const Result<ProcId>& pid) {
      if (!pid.ok()) {
        RATCHET_LOG(kInfo, "Balance: region {} stays at {}: {}", move.encoded, move.from.ToString(),
                    pid.error().message());
      }
      counted->Take(pid.ok());
    });
  }
}

}  // namespace ratchet::master
