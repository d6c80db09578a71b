// Replication peers, through the active master. The answers of changes are pids of procedures, for Admin::WaitOk; each
// carries one nonce through all its retries. Errors have HBase's classes (ReplicationPeerNotFoundException, ...).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/client/admin.h"
#include "common/model/proto/replication.pb.h"

namespace ratchet::client {

[[nodiscard]] Result<std::uint64_t> AddPeer(Admin& admin, const std::string& id,
                                            const hbase::pb::ReplicationPeer& config, bool enabled);
// The configuration replaces the existing one.
[[nodiscard]] Result<std::uint64_t> UpdatePeer(Admin& admin, const std::string& id,
                                               const hbase::pb::ReplicationPeer& config);
[[nodiscard]] Result<std::uint64_t> RemovePeer(Admin& admin, const std::string& id);
[[nodiscard]] Result<std::uint64_t> EnablePeer(Admin& admin, const std::string& id);
[[nodiscard]] Result<std::uint64_t> DisablePeer(Admin& admin, const std::string& id);
[[nodiscard]] Result<std::vector<hbase::pb::ReplicationPeerDescription>> ListPeers(Admin& admin);
[[nodiscard]] Result<hbase::pb::ReplicationPeerDescription> DescribePeer(Admin& admin, const std::string& id);
// The progress of each source, as region servers reported it last. `peer` empty: all peers.
[[nodiscard]] Result<hbase::pb::GetReplicationProgressResponse> ReplicationProgress(Admin& admin,
                                                                                    const std::string& peer);

}  // namespace ratchet::client
