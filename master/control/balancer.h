// Balancer: moves regions when an operator asks for it, so that each server has its share.
//
// It plans from the picture of this moment (balance_plan.h) and asks for ordinary moves, at most kMovesAtOnce: a
// request that leaves some over is asked for again. hbase:meta is not moved, nor is what a procedure owns, nor anything
// to or from a server that is drained. Each move is a procedure of its own, durable before `done`; the plan is not: a
// master that dies between two of them leaves the rest to the next request. Thread-safe; never blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "common/base/result.h"
#include "master/control/table_admin.h"

namespace ratchet::master {

struct MasterEnv;

class Balancer {
 public:
  Balancer(MasterEnv& env, TableAdmin& tables) : env_(env), tables_(tables) {}

  struct Request {
    bool dry_run = false;  // only plans
    bool despite_regions_in_transition = false;
    std::string user;
  };
  struct Outcome {
    std::string put_off;  // why nothing was planned: a server is being recovered, regions are in transition; else empty
    std::size_t planned = 0;
    std::size_t begun = 0;  // moves that are durable; a region may meanwhile be another procedure's
  };
  void Balance(const Request& request, std::function<void(Result<Outcome>)> done);

  static constexpr std::size_t kMovesAtOnce = 256;

 private:
  MasterEnv& env_;
  TableAdmin& tables_;
};

}  // namespace ratchet::master
