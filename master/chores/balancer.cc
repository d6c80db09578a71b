#include "master/chores/balancer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/switches.h"
#include "master/policy/server_choice.h"
#include "master/procedures/claims_of.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/crash/server_crash.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Delay until the next check after an obstacle.
constexpr Millis kPutOffFor{5'000};

constexpr Millis kGetsOnWithin{60'000};  // a transition without a change for longer counts as stuck
constexpr std::uint32_t kRefusalsOfStuck = 3;
constexpr std::size_t kMostNamed = 5;

// Counts the moves of one request, and calls `done` after the last of them.
class Counted {
 public:
  using Done = std::function<void(Result<Balancer::Outcome>)>;
  Counted(Balancer::Outcome outcome, std::size_t asked, Done done)
      : left_(asked), outcome_(std::move(outcome)), done_(std::move(done)) {}
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
  std::vector<RegionNode> in_transition;
  env_.regions.Visit([&](const RegionNode& node) {
    if (node.owner.valid() || !IsAtRest(node.state)) in_transition.push_back(node);
    if (!node.location) return;
    const bool movable = node.state == RegionState::kOpen && !node.owner.valid() && !node.info.IsMeta();
    regions.push_back({node.encoded, node.info.table.ToString(), *node.location, movable});
  });
  Obstacles obstacles = FindObstacles(request, in_transition);
  if (!obstacles.put_off.empty()) {
    Outcome outcome{std::move(obstacles.put_off), 0, 0};
    outcome.left_out = std::move(obstacles.left_out);
    return done(std::move(outcome));
  }
  std::vector<ServerName> eligible = EligibleServers(env_.servers, env_.decommissions);
  if (options_.counts() && !request.dry_run) {
    return Carry(request, eligible, std::move(regions), std::move(obstacles.left_out), std::move(done));
  }
  auto work = [this, request, eligible = std::move(eligible), regions = std::move(regions),
               left_out = std::move(obstacles.left_out), done] { Carry(request, eligible, regions, left_out, done); };
  if (!env_.RunSlowWork(std::move(work)))
    done(PleaseHold("the balancer's plan waits for other slow tasks; retry later"));
}

std::string Balancer::StuckBecause(const RegionNode& node) const {
  if (node.failed_opens >= kRefusalsOfStuck) return fmt::format("its opening was refused {} times", node.failed_opens);
  if (const auto owner = env_.executor->Get(node.owner); node.owner.valid() && owner) {
    if (!owner->parked.empty()) return fmt::format("pid={} is parked: {}", owner->pid, owner->parked);
    if (!owner->paused.empty()) return fmt::format("pid={}: {}", owner->pid, owner->paused);
  }
  const auto age = std::chrono::duration_cast<Millis>(env_.clock.Now() - node.last_update);
  return age < kGetsOnWithin ? "" : fmt::format("it has not changed for {} s", age.count() / 1'000);
}

Balancer::Obstacles Balancer::FindObstacles(const Request& request,
                                            const std::vector<RegionNode>& in_transition) const {
  Obstacles found;
  auto leave_out = [&found, left = std::size_t{0}](std::string what) mutable {
    if (++left <= kMostNamed) found.left_out.push_back(std::move(what));
    if (left == kMostNamed + 1) found.left_out.push_back("and more: see 'ratchet regions --in-transition'");
  };
  for (const ProcId crash : env_.executor->FindUnfinished(ServerCrash::kTypeName)) {
    const auto worst = WorstSetbackOf(env_.executor->Tree(crash));
    if (worst && worst->setback.times >= kRefusalsOfStuck) {
      leave_out(fmt::format("the recovery of a dead server, pid={}: {}", crash, worst->setback.error));
    } else if (found.put_off.empty()) {
      found.put_off = fmt::format("pid={} recovers a dead server", crash);
    }
  }
  std::size_t moving = 0;
  for (const RegionNode& node : in_transition) {
    const std::string why = StuckBecause(node);
    if (why.empty()) {
      ++moving;
    } else {
      leave_out(fmt::format("region {} of table {}: {}", node.encoded, node.info.table.ToString(), why));
    }
  }
  if (found.put_off.empty() && moving > 0 && !request.despite_regions_in_transition)
    found.put_off = fmt::format("{} regions are in transition", moving);
  return found;
}

Balancer::Plan Balancer::MakePlan(const Request& request, const std::vector<ServerName>& eligible,
                                  std::vector<BalancedRegion> regions) {
  const bool counts = options_.counts();
  const bool uneven = !request.only_if_uneven || IsUneven(eligible, regions, options_.slop);
  Plan plan;
  if (counts) {
    if (!uneven) return plan;
    plan.moves = PlanBalance(eligible, regions);
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
  StochasticPlan found = PlanStochastically(eligible, std::move(weighed), how);
  plan.before = found.before;
  plan.after = found.after;
  const bool worth = uneven || found.before.total - found.after.total >= options_.least_gain.Get();
  if (!counts && worth) plan.moves = std::move(found.moves);
  return plan;
}

void Balancer::Carry(const Request& request, const std::vector<ServerName>& eligible,
                     std::vector<BalancedRegion> regions, std::vector<std::string> left_out,
                     std::function<void(Result<Outcome>)> done) {
  std::map<std::string, std::size_t> of_table;
  for (const BalancedRegion& region : regions) ++of_table[region.table];
  Plan plan = MakePlan(request, eligible, std::move(regions));
  const std::size_t planned = plan.moves.size();
  if (request.dry_run)
    return done(Outcome{{}, planned, 0, std::move(plan.moves), plan.before, plan.after, std::move(left_out)});
  const std::vector<BalanceMove> moves = FirstMoves(plan.moves, of_table, options_.limits);
  Outcome outcome{{}, planned, 0};
  outcome.left_out = std::move(left_out);
  if (moves.empty()) return done(std::move(outcome));
  for (const std::string& what : outcome.left_out) RATCHET_LOG(kInfo, "Balance leaves out {}", what);
  RATCHET_LOG(kInfo, "Balance, requested by {}: {} moves, {} of them now", request.context.user, planned, moves.size());
  const auto counted = std::make_shared<Counted>(std::move(outcome), moves.size(), std::move(done));
  for (const BalanceMove& move : moves) Begin(move, request.context, [counted](bool begun) { counted->Take(begun); });
}

void Balancer::Begin(const BalanceMove& move, const RequestContext& context, std::function<void(bool begun)> done) {
  ++asked_;
  tables_.MoveRegion(move.encoded, {move.to}, context, [this, move, done = std::move(done)](const Result<ProcId>& pid) {
    done(pid.ok());
    if (pid.ok()) {
      {
        const MutexLock lock(mutex_);
        moving_[*pid] = move.encoded;
      }
      --asked_;
      env_.executor->OnFinished(*pid, [this, pid = *pid](const procedure::ProcedureResult& /*ended*/) {
        const MutexLock lock(mutex_);
        moving_.erase(pid);
      });
      return;
    }
    --asked_;
    RATCHET_LOG(kInfo, "Balance: region {} stays at {}: {}", move.encoded, move.from.ToString(), pid.error().message());
  });
}

// Returns true if moves of the balancer are making progress: the next check waits for them.
bool Balancer::MovesGetOn() {
  if (asked_.load() > 0) return true;
  std::map<ProcId, std::string> moving;
  {
    const MutexLock lock(mutex_);
    moving = moving_;
  }
  return std::any_of(moving.begin(), moving.end(), [this](const auto& move) {
    const auto info = env_.executor->Get(move.first);
    if (!info || procedure::IsTerminal(info->state)) return false;
    if (!info->parked.empty() || !info->paused.empty()) return false;
    const auto node = env_.regions.Get(move.second);
    return !node || StuckBecause(*node).empty();
  });
}

void Balancer::Tick() {
  if (options_.period.Get() == Millis{0} || MovesGetOn()) return;
  if (!env_.meta_loaded.load() || !env_.switches.IsOn(Switch::kBalancer)) return;
  const std::vector<ServerName> eligible = EligibleServers(env_.servers, env_.decommissions);
  std::set<ServerName> seen(eligible.begin(), eligible.end());
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
  // The rest of a plan that the limits postponed is moved too, although the load may be about even by then.
  Balance({false, false, /*only_if_uneven=*/!finishing, {"master", {}}}, [this](const Result<Outcome>& outcome) {
    if (!outcome.ok()) return;
    {
      const MutexLock lock(mutex_);
      if (outcome->put_off.empty()) finishing_ = outcome->planned > outcome->begun;
    }
    const TimePoint next = env_.clock.Now() + (outcome->put_off.empty() ? Millis{0} : kPutOffFor);
    if (outcome->put_off.empty() && outcome->begun == 0) return;  // all moves are done
    const MutexLock lock(mutex_);
    next_ = std::min(next_, next);
  });
}

}  // namespace ratchet::master
