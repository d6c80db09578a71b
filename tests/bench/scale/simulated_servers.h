// Region servers without storage, many in one process, for ratchet-scale. Each speaks the protocol of a region server:
// it has a log directory and a node in ZooKeeper, registers with the master, sends heartbeats, takes orders on an
// address of its own, and reports each order once. An order is answered after a fixed delay, and changes a list in
// memory only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/model/server_name.h"
#include "common/zk/zk_session.h"
#include "regionserver/process/master_tracker.h"

namespace ratchet::bench {

// The parts that all servers of the process share. It is not copied, and outlives them.
struct SimulatedPlace {
  std::unique_ptr<io::Directory> root;
  std::unique_ptr<io::Directory> wals;
  std::unique_ptr<zk::ZkSession> session;
  zk::ZkPaths paths;
  std::string cluster_id;
  io::ClusterKeys keys;
  std::unique_ptr<Timers> timers;
  std::unique_ptr<regionserver::MasterTracker> tracker;
  Millis delay{0};                     // from an order to its answer
  std::size_t loads = 0;               // regions of a server whose load changes from one heartbeat to the next
  std::atomic<std::uint64_t> open{0};  // regions of all servers
};

class SimulatedServer;

class SimulatedServers {
 public:
  // `root`, `zookeeper`: of a cluster that runs.
  [[nodiscard]] static Result<std::unique_ptr<SimulatedServers>> Connect(const std::string& root,
                                                                         const std::string& zookeeper, Millis delay,
                                                                         std::size_t loads);
  ~SimulatedServers();
  SimulatedServers(const SimulatedServers&) = delete;
  SimulatedServers& operator=(const SimulatedServers&) = delete;

  [[nodiscard]] Status Start(std::size_t count);
  // Ends servers as a crash does: their addresses refuse connections, and their nodes are gone.
  [[nodiscard]] Status Kill(std::size_t count);
  [[nodiscard]] std::uint64_t open() const { return place_->open.load(); }
  // Returns the number of regions whose load the master has, or gets with the heartbeats that are in flight.
  [[nodiscard]] std::uint64_t held();
  [[nodiscard]] std::size_t size() const { return servers_.size(); }

 private:
  explicit SimulatedServers(std::unique_ptr<SimulatedPlace> place) : place_(std::move(place)) {}
  void FollowMaster();

  std::unique_ptr<SimulatedPlace> place_;
  Mutex mutex_;
  std::vector<std::shared_ptr<SimulatedServer>> servers_;
};

}  // namespace ratchet::bench
