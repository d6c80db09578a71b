// One seeded run of the master's logic in a failing world: see README.md. Single-threaded; the same seed and number of
// moves give the same run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/prng.h"
#include "tests/master_sim/admin_client.h"
#include "tests/master_sim/operators.h"
#include "tests/master_sim/upkeep.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

struct MasterSimOptions {
  std::uint64_t seed = 1;
  std::uint64_t moves = 150;
  bool operators = true;  // operators run commands at any moment
  bool reshapes = true;   // administrators split and merge regions too
  bool upkeep = true;     // administrators change snapshots, namespaces, peers and switches too
  bool verbose = false;
};

struct MasterSimSummary {
  std::uint64_t requests = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::uint64_t procedures = 0;  // ended procedures, children included
  std::uint64_t server_faults = 0;
  std::uint64_t died_at_commit = 0;  // masters
  std::uint64_t killed = 0;          // masters
  std::uint64_t deposed = 0;         // masters that continued for a while after being deposed
  std::uint64_t commits = 0;
  std::uint64_t verbs = 0;              // operators' commands
  std::vector<std::string> violations;  // empty: no violation
  std::vector<std::string> trace;
};

class MasterSimulation {
 public:
  explicit MasterSimulation(const MasterSimOptions& options);
  ~MasterSimulation();
  MasterSimSummary Run();

 private:
  class Endings;
  void Move();
  void BreakServer();
  void DamageDescriptor();
  void BreakMaster();
  void NextMaster(bool keep_old);
  void Watch();
  void CheckSettlement();
  void Stall(sim::SimMaster& master, Prng& prng);
  sim::SimServer* ServerInTheMiddle(sim::SimMaster& master, Prng& prng);
  void ElectAfter(Millis delay);
  void Pass(Millis span);
  void Heal();
  void Drain();
  void ReplaceLater(const std::string& host);
  sim::SimServer* AnyServer();

  const MasterSimOptions options_;
  Prng prng_;
  MasterSimSummary summary_;
  std::shared_ptr<Endings> endings_;
  sim::SimCluster cluster_;
  std::optional<Upkeep> upkeep_;
  AdminClient client_;
  Operators operators_;
  std::uint64_t hosts_ = 0;
  bool calm_ = false;      // no more faults
  bool electing_ = false;  // the next master starts after a while
  bool aborted_ = false;   // an operator has aborted a procedure
  bool stalled_ = false;   // a step is delayed
};

}  // namespace ratchet::simulation
