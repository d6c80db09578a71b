// Balancer: moves regions so that each server has its share, automatically and when an operator asks for it.
//
// It plans from the current in-memory state (balance_plan.h, stochastic_plan.h) and submits ordinary moves, with a
// limit for the cluster and for each table (MoveLimits). It does not move hbase:meta, regions that a procedure owns, or
// regions to or from a drained server. It starts nothing while a dead server is being recovered or a region is in
// transition, for example by a drain. Stuck regions are left out and named, and do not delay the others: a region that
// keeps being refused, a transition that is paused, parked or has not changed for a minute, a recovery that keeps
// failing. Each move is a procedure of its own, durable before `done`. The plan is not durable: if the master dies
// between two moves, the next check plans the rest again. Thread-safe; never blocks: long planning runs on the threads
// for slow work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/cluster/region_directory.h"
#include "master/policy/balance_plan.h"
#include "master/procedures/core/master_options.h"
#include "master/requests/table_admin.h"
#include "master/telemetry/region_rates.h"

namespace ratchet::master {

struct MasterEnv;

class Balancer {
 public:
  Balancer(MasterEnv& env, TableAdmin& tables, const RegionRates& rates, const BalancerOptions& options)
      : env_(env), tables_(tables), rates_(rates), options_(options) {}

  struct Request {
    bool dry_run = false;  // returns the plan without moving regions
    bool despite_regions_in_transition = false;
    bool only_if_uneven = false;  // plans nothing while IsUneven returns false and the gain is below options.least_gain
    RequestContext context;
  };
  struct Outcome {
    // why nothing was planned (a server is being recovered, regions are in transition); else empty
    std::string put_off;
    std::size_t planned = 0;
    std::size_t begun = 0;                // moves that are durable; another procedure may meanwhile own the region
    std::vector<BalanceMove> moves{};     // of a dry run
    BalanceCost before{};                 // of a dry run: the current cost
    BalanceCost after{};                  // of a dry run: the cost after all moves
    std::vector<std::string> left_out{};  // some of the stuck regions, with the reason
  };
  void Balance(const Request& request, std::function<void(Result<Outcome>)> done);

  // Call every second. Balances an uneven cluster automatically: when a server that can have regions has joined, after
  // each period of the options, and again until all moves are done. Does nothing while its own moves are in progress or
  // the balancer is switched off.
  void Tick();

 private:
  struct Plan {
    std::vector<BalanceMove> moves;
    BalanceCost before;
    BalanceCost after;
  };
  [[nodiscard]] Plan MakePlan(const Request& request, const std::vector<ServerName>& eligible,
                              std::vector<BalancedRegion> regions);
  void Carry(const Request& request, const std::vector<ServerName>& eligible, std::vector<BalancedRegion> regions,
             std::vector<std::string> left_out, std::function<void(Result<Outcome>)> done);
  // Reasons to postpone balancing, and the stuck regions.
  struct Obstacles {
    std::string put_off;
    std::vector<std::string> left_out;
  };
  [[nodiscard]] Obstacles FindObstacles(const Request& request, const std::vector<RegionNode>& in_transition) const;
  // Returns why the region's transition is stuck; empty if it makes progress.
  [[nodiscard]] std::string StuckBecause(const RegionNode& node) const;
  [[nodiscard]] bool MovesGetOn();
  void Begin(const BalanceMove& move, const RequestContext& context, std::function<void(bool begun)> done);

  MasterEnv& env_;
  TableAdmin& tables_;
  const RegionRates& rates_;
  const BalancerOptions options_;
  std::atomic<std::uint64_t> looks_{0};  // seeds the stochastic planner, so that each check tries other changes
  std::atomic<std::size_t> asked_{0};    // submitted moves that have no pid yet
  Mutex mutex_;
  std::map<ProcId, std::string> moving_ GUARDED_BY(mutex_);  // regions whose moves have not ended
  std::set<ServerName> seen_ GUARDED_BY(mutex_);             // servers that could have regions at the last check
  TimePoint next_ GUARDED_BY(mutex_){};                      // look
  bool finishing_ GUARDED_BY(mutex_) = false;                // some moves of the last plan are still to be made
};

}  // namespace ratchet::master
