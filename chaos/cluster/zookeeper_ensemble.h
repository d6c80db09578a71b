// The ZooKeeper servers of a cluster on this machine: one, or an ensemble of three or five, each a process with a
// directory, ports and a log of its own.
//
// One driver thread. Members are killed and paused by signals, like all other processes of the cluster.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "chaos/cluster/zookeeper_process.h"

namespace ratchet::chaos {

// A member with its name in the cluster.
struct ZooKeeperMember {
  std::string name;  // "zookeeper", or "zookeeper-2"
  std::filesystem::path log;
  std::uint16_t port = 0;  // for clients
};

class ZooKeeperEnsemble {
 public:
  // Returns free ports for this number of members; empty for a standalone server.
  [[nodiscard]] static Result<std::vector<ZooKeeperPeer>> PickPeers(int members);
  // Writes the configuration of each below `dir`; starts nothing. `peers` has an entry for each member, or is empty for
  // a standalone server.
  [[nodiscard]] static Result<ZooKeeperEnsemble> Prepare(const std::filesystem::path& dir,
                                                         const std::vector<ZooKeeperMember>& members,
                                                         const std::vector<ZooKeeperPeer>& peers, bool dies_with_us);

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  // Returns the addresses of all members for clients: "127.0.0.1:40001,127.0.0.1:40004".
  [[nodiscard]] std::string addresses() const;
  // Returns null if no member has this name.
  [[nodiscard]] ZooKeeperProcess* Find(const std::string& name);
  // Asks the member, with a short timeout.
  [[nodiscard]] ZooKeeperState StateOf(const std::string& name) const;

 private:
  struct Server {
    std::string name;
    ZooKeeperProcess process;
  };
  std::vector<Server> servers_;
};

}  // namespace ratchet::chaos
