// What administrators ask for besides tables, regions and servers: snapshots and what is put back of them, namespaces
// and tables in them, replication peers, switches; and what a master does by itself now and then (balancer, keeper of
// replication, cleaning of snapshots). Dead servers' logs are shipped to the peers by hand. What must have come of it
// is judged at the end. Single-threaded; its choices come from a source of its own, so that runs without it stay as
// they were.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/prng.h"
#include "master/control/table_admin.h"
#include "master/state/switches.h"
#include "tests/master_sim/request.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

class Upkeep {
 public:
  Upkeep(sim::SimCluster& cluster, std::uint64_t seed) : cluster_(cluster), prng_(seed) {}

  // True: the request is one of these now. Else its table may be one in a namespace.
  [[nodiscard]] bool Takes(Request& request, const std::deque<Request>& earlier);
  static void Ask(sim::SimMaster& master, const Request& request, const master::RequestContext& context,
                  const master::TableAdmin::Done& done);
  // Something that is no procedure with a nonce.
  void Act(const std::deque<Request>& requests);
  void OnNewMaster() { ++life_; }
  // Everything is switched on again, and what dead servers have left is shipped.
  void GoHome();
  // Nothing is left to be shipped.
  [[nodiscard]] bool AtRest();
  // Of a cluster at rest. `bypassed`: what has become of these is the operators' affair.
  void CheckEnd(const std::deque<Request>& requests, const std::set<ProcId>& bypassed);

 private:
  struct Setting {
    std::optional<bool> as_set;  // by the last request; nothing: its outcome is not known
    std::uint64_t asked = 0;     // how often
    std::uint64_t open = 0;      // requests whose outcome is not known
  };
  void CompareWithLiveServers();
  void Tick();
  void Ship();
  void DeleteSnapshot(const std::string& name);
  void Set(master::Switch which, bool on, bool and_wait);
  void CheckSnapshots(const std::deque<Request>& requests, const std::set<ProcId>& bypassed);
  void CheckImports(const std::deque<Request>& requests);
  void CheckCounts(const std::deque<Request>& requests, const std::set<ProcId>& bypassed);
  void CheckServers();

  sim::SimCluster& cluster_;
  Prng prng_;
  std::set<std::string> deleted_;  // snapshots whose deletion was asked for
  std::map<master::Switch, Setting> settings_;
  std::uint64_t life_ = 0;  // of masters
};

}  // namespace ratchet::simulation
