// The ZooKeeper servers of a cluster on this machine: one, or an ensemble of three or five, each a process with a
// directory, ports and a log of its own.
//
// One driver thread. A member that is to be killed or paused is signalled by its process id, as any other process of
// the cluster.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "chaos/cluster/zookeeper_process.h"

namespace ratchet::chaos {

// A server as the cluster knows it.
struct ZooKeeperMember {
  std::string name;  // "zookeeper", or "zookeeper-2"
  std::filesystem::path log;
  std::uint16_t port = 0;  // for clients
};

class ZooKeeperEnsemble {
 public:
  // Free ports for as many members; none for a server that stands alone.
  [[nodiscard]] static Result<std::vector<ZooKeeperPeer>> PickPeers(int members);
  // Writes the configuration of each below `dir`; starts nothing. `peers`: as many as members, or none for the only
  // one.
  [[nodiscard]] static Result<ZooKeeperEnsemble> Prepare(const std::filesystem::path& dir,
                                                         const std::vector<ZooKeeperMember>& members,
                                                         const std::vector<ZooKeeperPeer>& peers, bool dies_with_us);

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  // Of all members, as clients want it: "127.0.0.1:40001,127.0.0.1:40004".
  [[nodiscard]] std::string addresses() const;
  // Null for a name that is no member's.
  [[nodiscard]] ZooKeeperProcess* Find(const std::string& name);
  // Asked for a moment only.
  [[nodiscard]] ZooKeeperState StateOf(const std::string& name) const;

 private:
  struct Server {
    std::string name;
    ZooKeeperProcess process;
  };
  std::vector<Server> servers_;
};

}  // namespace ratchet::chaos
