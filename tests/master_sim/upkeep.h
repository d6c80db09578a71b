// Requests of administrators, except those for tables, regions and servers: snapshots and restores, namespaces with
// tables, replication peers, switches. It also runs a master's periodic work (balancer, replication manager, cleaning
// of snapshots), and ships dead servers' logs to the peers. CheckEnd checks the results. Single-threaded; its choices
// come from a separate random source, so that runs without it are unchanged.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/prng.h"
#include "master/cluster/switches.h"
#include "master/requests/table_admin.h"
#include "tests/master_sim/request.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

class Upkeep {
 public:
  Upkeep(sim::SimCluster& cluster, std::uint64_t seed) : cluster_(cluster), prng_(seed) {}

  // Returns true if it changed the request to one of these kinds. Otherwise it may have moved the request's table into
  // a namespace.
  [[nodiscard]] bool Takes(Request& request, const std::deque<Request>& earlier);
  static void Ask(sim::SimMaster& master, const Request& request, const master::RequestContext& context,
                  const master::TableAdmin::Done& done);
  // Runs an action that is not a procedure with a nonce.
  void Act(const std::deque<Request>& requests);
  void OnNewMaster() { ++life_; }
  // Resets all switches, and ships the logs of dead servers.
  void GoHome();
  // Returns true if all logs are shipped.
  [[nodiscard]] bool AtRest();
  // Checks a cluster without running procedures. `bypassed`: the results of these procedures are not checked.
  void CheckEnd(const std::deque<Request>& requests, const std::set<ProcId>& bypassed);

 private:
  struct Setting {
    std::optional<bool> as_set;  // value of the last request; nullopt if its outcome is unknown
    std::uint64_t asked = 0;     // number of requests
    std::uint64_t open = 0;      // requests with an unknown outcome
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
  std::set<std::string> deleted_;  // snapshots whose deletion was requested
  std::map<master::Switch, Setting> settings_;
  std::uint64_t life_ = 0;  // number of the current master
};

}  // namespace ratchet::simulation
