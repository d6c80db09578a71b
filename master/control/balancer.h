// Balancer: moves regions so that each server has its share, by itself and when an operator asks for it.
//
// It plans from the picture of this moment (balance_plan.h) and asks for ordinary moves, only so many at a time, of all
// and of each table (MoveLimits). hbase:meta is not moved, nor is what a procedure owns, nor anything to or from a
// server that is drained; while a dead server is being recovered or a region is in transition, by a drain for instance,
// nothing begins. Each move is a procedure of its own, durable before `done`; the plan is not: a master that dies
// between two of them leaves the rest to the next look. Thread-safe; never blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/server_name.h"
#include "master/control/table_admin.h"
#include "master/state/balance_plan.h"
#include "master/state/master_options.h"

namespace ratchet::master {

struct MasterEnv;

class Balancer {
 public:
  Balancer(MasterEnv& env, TableAdmin& tables, const BalancerOptions& options)
      : env_(env), tables_(tables), options_(options) {}

  struct Request {
    bool dry_run = false;  // only plans
    bool despite_regions_in_transition = false;
    bool only_if_uneven = false;  // plans nothing while IsUneven says no
    std::string user;
  };
  struct Outcome {
    std::string put_off;  // why nothing was planned: a server is being recovered, regions are in transition; else empty
    std::size_t planned = 0;
    std::size_t begun = 0;  // moves that are durable; a region may meanwhile be another procedure's
  };
  void Balance(const Request& request, std::function<void(Result<Outcome>)> done);

  // Call every second. Balances by itself, where it is uneven: when a server has come that can have regions, after
  // each `period`, and again until nothing is left to be moved. Not while moves of its own are under way, or it is
  // switched off.
  void Tick();

 private:
  void Begin(const BalanceMove& move, const std::string& user, std::function<void(bool begun)> done);

  MasterEnv& env_;
  TableAdmin& tables_;
  const BalancerOptions options_;
  std::atomic<std::size_t> under_way_{0};  // moves that were asked for and have not ended
  Mutex mutex_;
  std::set<ServerName> seen_ GUARDED_BY(mutex_);  // servers that could have regions when it last looked
  TimePoint next_ GUARDED_BY(mutex_){};           // look
  bool finishing_ GUARDED_BY(mutex_) = false;     // of the last plan some moves are left
};

}  // namespace ratchet::master
