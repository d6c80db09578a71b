// Careless operators: any command, on any member of any tree, at any moment; and temporary holders of locks. CheckEnd
// states the allowed leftovers, and checks that no procedure stays stuck and that the reconciler needs no help.
// Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/prng.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

class Operators {
 public:
  Operators(sim::SimCluster& cluster, Prng prng) : cluster_(cluster), prng_(prng) {}

  // Runs one command, if it has a target.
  void Act();
  // Sends the heartbeats of lock holders.
  void Beat();
  // Reverts pauses, parks and locks, and gives up regions with damaged files. Call repeatedly until nothing is held.
  void GoHome();

  // An undone disabling that took a table over leaves the table to the reconciler, and the previous disabling reports
  // that it was taken over: no request reports that it disabled the table.
  void Aborting(const procedure::ProcedureInfo& info);

  [[nodiscard]] std::uint64_t verbs() const { return verbs_; }
  // Roots of trees with a bypassed or rerun member. Their requests may be done, partly done or not done; the cluster
  // must be consistent anyway.
  [[nodiscard]] const std::set<ProcId>& bypassed() const { return bypassed_; }
  // A repair that is bypassed between its files and hbase:meta leaves an empty directory that belongs to no region.
  [[nodiscard]] bool bypassed_a_mend() const { return bypassed_a_mend_; }

 private:
  struct Lock {
    bool beats = true;
  };
  void Bypass(const procedure::ProcedureInfo& info);
  void Rerun(const procedure::ProcedureInfo& info);
  void Park(const procedure::ProcedureInfo& info);
  void Unpark();
  void Pause(const procedure::ProcedureInfo* info);
  void Resume();
  void AcquireLock();
  void LetLockGo();
  void DamageRegion();
  void HalfRepaired(const procedure::ProcedureInfo& info);
  void GiveUp(const std::string& region);
  void GiveUpOne();
  void GiveUpTheRest();
  void FillHoles();
  [[nodiscard]] procedure::PauseScope AnyScope(const procedure::ProcedureInfo* info);
  [[nodiscard]] procedure::ResourceKey AnyResource();
  [[nodiscard]] std::vector<procedure::ProcedureInfo> Unfinished();

  sim::SimCluster& cluster_;
  Prng prng_;
  std::uint64_t verbs_ = 0;
  std::set<ProcId> bypassed_;
  bool bypassed_a_mend_ = false;
  std::set<std::string> half_given_up_;  // regions whose repair was bypassed
  std::map<ProcId, Lock> locks_;
  std::uint64_t lock_nonce_ = 0;
};

}  // namespace ratchet::simulation
