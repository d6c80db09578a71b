// Operators with bad manners: any verb, at any member of any tree, at any moment; and holders of locks that come and
// go. What they may leave behind is stated with CheckEnd; that nothing stays stuck, and that the reconciler needs no
// help, is judged there. Single-threaded.
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

  // One verb, if there is something to use it on.
  void Act();
  // Holders of locks send their heartbeats.
  void Beat();
  // What they have asked for is taken back: pauses, parks, locks; regions whose files are damaged are given up. Called
  // again and again until nothing is held.
  void GoHome();

  // A disabling that took a table over leaves it to the reconciler when it is undone, and the one before says that it
  // was taken over: no request says that it has disabled the table.
  void Aborting(const procedure::ProcedureInfo& info);

  [[nodiscard]] std::uint64_t verbs() const { return verbs_; }
  // Procedures that were ended without their remaining steps, or sent to other ones: roots, so whole trees. What they
  // were asked for may be done, half done or not done; the cluster is to be sound all the same.
  [[nodiscard]] const std::set<ProcId>& bypassed() const { return bypassed_; }
  // A mend that is bypassed between its files and hbase:meta leaves an empty directory that belongs to no region.
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
  void TakeLock();
  void LetLockGo();
  void DamageRegion();
  void HalfMended(const procedure::ProcedureInfo& info);
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
  std::set<std::string> half_given_up_;  // regions whose mend was bypassed
  std::map<ProcId, Lock> locks_;
  std::uint64_t lock_nonce_ = 0;
};

}  // namespace ratchet::simulation
