// Every path that the cluster uses in ZooKeeper, below one parent node (default "/hbase", as HBase clients expect).
#pragma once

#include <string>

namespace ratchet::zk {

inline constexpr const char* kDefaultParent = "/hbase";

// master, backup-masters/* and rs/* are ephemeral; the folders are persistent and empty. The version of `elections`
// rises with each election, so that a node `master` which was read earlier can be distinguished from a later one.
// hbaseid (cluster_place.h) is persistent, and so is meta-region-server, which masters write for clients only if they
// are configured to.
struct ZkPaths {
  std::string parent = kDefaultParent;
  [[nodiscard]] std::string ClusterId() const { return parent + "/hbaseid"; }
  [[nodiscard]] std::string MetaServer() const { return parent + "/meta-region-server"; }
  [[nodiscard]] std::string Master() const { return parent + "/master"; }
  [[nodiscard]] std::string Elections() const { return parent + "/elections"; }
  [[nodiscard]] std::string BackupMasters() const { return parent + "/backup-masters"; }
  [[nodiscard]] std::string BackupMaster(const std::string& server) const { return BackupMasters() + "/" + server; }
  [[nodiscard]] std::string RegionServers() const { return parent + "/rs"; }
  [[nodiscard]] std::string RegionServer(const std::string& server) const { return RegionServers() + "/" + server; }
};

}  // namespace ratchet::zk
