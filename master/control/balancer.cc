#include "master/control/balancer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "master/env/master_env.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"
#include "master/state/switches.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

// Until it looks again by itself when something stood in the way.
constexpr Millis kPutOffFor{5'000};

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
  std::vector<ServerName> takers = env_.servers.Takers();
  if (options_.kind == BalancerKind::kSimple && !request.dry_run) {
    return Carry(request, takers, std::move(regions), std::move(done));
  }
  auto work = [this, request, takers = std::move(takers), regions = std::move(regions), done] {
    Carry(request, takers, regions, done);
  };
  if (!env_.RunSlowWork(std::move(work))) done(PleaseHold("the balancer's plan waits for other slow work: try again"));
}

Balancer::Plan Balancer::MakePlan(const Request& request, const std::vector<ServerName>& takers,
                                  std::vector<BalancedRegion> regions) {
  const bool counts = options_.kind == BalancerKind::kSimple;
  const bool uneven = !request.only_if_uneven || IsUneven(takers, regions, options_.slop);
  Plan plan;
  if (counts) {
    if (!uneven) return plan;
    plan.moves = PlanBalance(takers, regions);
    if (!request.dry_run) return plan;
  }
  std::vector<WeighedRegion> weighed;
  weighed.reserve(regions.size());
  for (BalancedRegion& region : regions) {
    const RegionRate rate = rates_.Of(region.server, region.encoded).value_or(RegionRate());
    weighed.push_back({std::move(region), rate.requests, rate.bytes});
  }
  StochasticOptions how;
  how.weights = options_.weights;
  how.seed = env_.options.seed + ++looks_;
  if (counts) how.most_steps = 0;  // the same plan, with its cost
  StochasticPlan found = PlanStochastically(takers, std::move(weighed), how);
  plan.before = found.before;
  plan.after = found.after;
  const bool worth = uneven || found.before.total - found.after.total >= options_.least_gain.Get();
  if (!counts && worth) plan.moves = std::move(found.moves);
  return plan;
}

void Balancer::Carry(const Request& request, const std::vector<ServerName>& takers, std::vector<BalancedRegion> regions,
                     std::function<void(Result<Outcome>)> done) {
  std::map<std::string, std::size_t> of_table;
  for (const BalancedRegion& region : regions) ++of_table[region.table];
  Plan plan = MakePlan(request, takers, std::move(regions));
  const std::size_t planned = plan.moves.size();
  if (request.dry_run) return done(Outcome{{}, planned, 0, std::move(plan.moves), plan.before, plan.after});
  const std::vector<BalanceMove> moves = FirstMoves(plan.moves, of_table, options_.limits);
  if (moves.empty()) return done(Outcome{{}, planned, 0});
  RATCHET_LOG(kInfo, "Balance, asked for by {}: {} moves, {} of them now", request.user, planned, moves.size());
  const auto counted = std::make_shared<Counted>(planned, moves.size(), std::move(done));
  for (const BalanceMove& move : moves) Begin(move, request.user, [counted](bool begun) { counted->Take(begun); });
}

void Balancer::Begin(const BalanceMove& move, const std::string& user, std::function<void(bool begun)> done) {
  ++under_way_;
  tables_.MoveRegion(
      move.encoded, {move.to}, {user, {}}, [this, move, done = std::move(done)](const Result<ProcId>& pid) {
        done(pid.ok());
        if (pid.ok()) {
          env_.executor->OnFinished(*pid, [this](const procedure::ProcedureResult& /*ended*/) { --under_way_; });
          return;
        }
        --under_way_;
        RATCHET_LOG(kInfo, "Balance: region {} stays at {}: {}", move.encoded, move.from.ToString(),
                    pid.error().message());
      });
}

void Balancer::Tick() {
  if (options_.period.Get() == Millis{0} || under_way_.load() > 0) return;
  if (!env_.meta_loaded.load() || !env_.switches.IsOn(Switch::kBalancer)) return;
  const std::vector<ServerName> takers = env_.servers.Takers();
  std::set<ServerName> seen(takers.begin(), takers.end());
  const TimePoint now = env_.clock.Now();
  bool finishing = false;
  {
    const MutexLock lock(mutex_);
    finishing = finishing_;
    const bool come = !std::includes(seen_.begin(), seen_.end(), seen.begin(), seen.end());
    seen_ = std::move(seen);
    if (!come && now < next_) return;
    next_ = now + options_.period.Get();
  }
  // What limits have left over of a plan is moved too, although it may be about even by then.
  Balance({false, false, /*only_if_uneven=*/!finishing, "master"}, [this](const Result<Outcome>& outcome) {
    if (!outcome.ok()) return;
    {
      const MutexLock lock(mutex_);
      if (outcome->put_off.empty()) finishing_ = outcome->planned > outcome->begun;
    }
    const TimePoint next = env_.clock.Now() + (outcome->put_off.empty() ? Millis{0} : kPutOffFor);
    if (outcome->put_off.empty() && outcome->begun == 0) return;  // nothing is left to be moved
    const MutexLock lock(mutex_);
    next_ = std::min(next_, next);
  });
}

}  // namespace ratchet::master
