// One seeded run of the master's logic in a world that breaks: see README.md. Single-threaded; the same seed and number
// of moves give the same run.
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
  bool operators = true;  // with their verbs at any moment
  bool reshapes = true;   // administrators split and merge regions
  bool upkeep = true;     // and ask for snapshots, namespaces, peers, switches
  bool verbose = false;
};

struct MasterSimSummary {
  std::uint64_t requests = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::uint64_t procedures = 0;  // that ended, children included
  std::uint64_t server_faults = 0;
  std::uint64_t died_at_commit = 0;  // masters
  std::uint64_t killed = 0;          // masters
  std::uint64_t deposed = 0;         // masters that went on for a while
  std::uint64_t commits = 0;
  std::uint64_t verbs = 0;              // of operators
  std::vector<std::string> violations;  // empty: all is well
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
  void CheckStanding();
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
  bool calm_ = false;      // nothing breaks any more
  bool electing_ = false;  // the next master comes after a while
  bool aborted_ = false;   // something, by an operator with good manners
  bool stalled_ = false;   // a step is in the middle, and gets no turn
};

}  // namespace ratchet::simulation
