// Operators with bad manners: any verb, at any member of any tree, at any moment. What they may leave behind is stated with
// CheckEnd; that nothing stays stuck, and that the reconciler needs no help, is judged there. Single-threaded.
#pragma once

#include <cstdint>
#include <set>

#include "common/base/prng.h"
#include "tests/support/sim/sim_cluster.h"

namespace ratchet::simulation {

class Operators {
 public:
  Operators(sim::SimCluster& cluster, Prng prng) : cluster_(cluster), prng_(prng) {}

  // One verb, if there is a procedure to use it on.
  void Act();

  [[nodiscard]] std::uint64_t verbs() const { return verbs_; }
  // Procedures that were ended without their remaining steps: roots, so whole trees. What they were asked for may be
  // done, half done or not done; the cluster is to be sound all the same.
  [[nodiscard]] const std::set<ProcId>& bypassed() const { return bypassed_; }

 private:
  void Bypass(const procedure::ProcedureInfo& info);

  sim::SimCluster& cluster_;
  Prng prng_;
  std::uint64_t verbs_ = 0;
  std::set<ProcId> bypassed_;
};

}  // namespace ratchet::simulation
