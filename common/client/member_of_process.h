// The identity of a process of a cluster: its clients of that cluster prove that they are members. The page of a
// process asks its masters in this way, so that it needs no user and no right of its own. Clients of other clusters,
// such as replication's, stay clients.
#pragma once

#include <memory>
#include <string>

namespace ratchet::rpc {
class MemberIdentity;  // common/rpc/member_identity.h
}

namespace ratchet::client {

struct OwnCluster {
  std::string zookeeper;  // as in ConnectionOptions, like the next one
  std::string znode_parent;
  std::shared_ptr<const rpc::MemberIdentity> member;
};

// Before the first Connection is opened. Connections that are open keep their identity. Thread-safe.
void SetMemberOfProcess(OwnCluster own);

}  // namespace ratchet::client
