// Balancer: moves regions so that each server has its share, by itself and when an operator asks for it.
//
// It plans from the picture of this moment (balance_plan.h, stochastic_plan.h) and asks for ordinary moves, only so
// many at a time, of all and of each table (MoveLimits). hbase:meta is not moved, nor is what a procedure owns, nor
// anything to or from a server that is drained; while a dead server is being recovered or a region is in transition, by
// a drain for instance, nothing begins. Each move is a procedure of its own, durable before `done`; the plan is not: a
// master that dies between two of them leaves the rest to the next look. Thread-safe; never blocks: what takes time to
// plan is planned on the threads for slow work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/server_name.h"
#include "master/control/table_admin.h"
#include "master/state/balance_plan.h"
#include "master/state/master_options.h"
#include "master/state/region_rates.h"

namespace ratchet::master {

struct MasterEnv;

class Balancer {
 public:
  Balancer(MasterEnv& env, TableAdmin& tables, const RegionRates& rates, const BalancerOptions& options)
      : env_(env), tables_(tables), rates_(rates), options_(options) {}

  struct Request {
    bool dry_run = false;  // only plans, and tells the plan
    bool despite_regions_in_transition = false;
    bool only_if_uneven = false;  // plans nothing while IsUneven says no and the gain is below options.least_gain
    std::string user;
  };
  struct Outcome {
    std::string put_off;  // why nothing was planned: a server is being recovered, regions are in transition; else empty
    std::size_t planned = 0;
    std::size_t begun = 0;             // moves that are durable; a region may meanwhile be another procedure's
    std::vector<BalanceMove> moves{};  // of a dry run
    BalanceCost before{};              // of a dry run, and
    BalanceCost after{};               // with all moves made
  };
  void Balance(const Request& request, std::function<void(Result<Outcome>)> done);

  // Call every second. Balances by itself, where it is uneven: when a server has come that can have regions, after
  // each `period`, and again until nothing is left to be moved. Not while moves of its own are under way, or it is
  // switched off.
  void Tick();

 private:
  struct Plan {
    std::vector<BalanceMove> moves;
    BalanceCost before;
    BalanceCost after;
  };
  [[nodiscard]] Plan MakePlan(const Request& request, const std::vector<ServerName>& takers,
                              std::vector<BalancedRegion> regions);
  void Carry(const Request& request, const std::vector<ServerName>& takers, std::vector<BalancedRegion> regions,
             std::function<void(Result<Outcome>)> done);
  void Begin(const BalanceMove& move, const std::string& user, std::function<void(bool begun)> done);

  MasterEnv& env_;
  TableAdmin& tables_;
  const RegionRates& rates_;
  const BalancerOptions options_;
  std::atomic<std::uint64_t> looks_{0};    // each look of the stochastic one tries other changes
  std::atomic<std::size_t> under_way_{0};  // moves that were asked for and have not ended
  Mutex mutex_;
  std::set<ServerName> seen_ GUARDED_BY(mutex_);  // servers that could have regions when it last looked
  TimePoint next_ GUARDED_BY(mutex_){};           // look
  bool finishing_ GUARDED_BY(mutex_) = false;     // of the last plan some moves are left
};

}  // namespace ratchet::master
