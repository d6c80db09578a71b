// A replication peer: another cluster to which tables are shipped. Checks its configuration, and decides what it
// selects. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/table_name.h"

namespace ratchet {

// An attribute of a mutation: the ids of the clusters that it has passed, one a line. So a write that returns to a
// cluster is not shipped again.
inline constexpr std::string_view kClusterIdsAttribute = "ratchet.cluster-ids";
inline constexpr std::string_view kReplicationScopeAttribute = "REPLICATION_SCOPE";  // of a family: "0" or "1"

inline constexpr std::size_t kMostPeers = 100;             // each has a source in each region server
inline constexpr std::size_t kMostPeerBytes = 256U << 10;  // of one configuration
inline constexpr std::size_t kMostClusterIds = 64;         // maximum number of clusters that an entry may have passed

// "host[,host...]:port:/znode" or "host:port[,host:port...]:/znode".
struct ClusterKey {
  std::string zookeeper;  // "host:port,..."
  std::string parent;     // "/hbase"
  bool operator==(const ClusterKey&) const = default;
};
[[nodiscard]] Result<ClusterKey> ParseClusterKey(std::string_view key);

// Where region servers store their positions: one row for each peer and server, its position in this family.
[[nodiscard]] TableName ReplicationTable();
inline constexpr const char* kReplicationFamily = "queue";

[[nodiscard]] bool IsEnabled(const hbase::pb::ReplicationState& state);
[[nodiscard]] hbase::pb::ReplicationState PeerState(bool enabled);

// Not empty, without '-' and '/': it becomes a part of names.
[[nodiscard]] Status CheckPeerId(std::string_view id);
// Refuses what HBase refuses, in its words, and what is not supported here: custom endpoints and synchronous
// replication.
[[nodiscard]] Status CheckPeerConfig(const hbase::pb::ReplicationPeer& config);
// Ok if `wanted` may replace `present`.
[[nodiscard]] Status CheckPeerUpdate(std::string_view id, const hbase::pb::ReplicationPeer& present,
                                     const hbase::pb::ReplicationPeer& wanted);
// Removes blanks around the cluster key; absent flags get HBase's defaults.
void NormalizePeerConfig(hbase::pb::ReplicationPeer& config);
// Returns false if its endpoint runs in HBase only, and nothing is shipped to it.
[[nodiscard]] bool IsShippedHere(const hbase::pb::ReplicationPeer& config);
// True if a family of a table goes to the peer. System tables never do.
[[nodiscard]] bool GoesToPeer(const hbase::pb::ReplicationPeer& config, const TableName& table,
                              std::string_view family);

}  // namespace ratchet
