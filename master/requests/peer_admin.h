// PeerAdmin: checks the requests of administrators about replication peers and submits their procedures. Same
// conventions as TableAdmin.
#pragma once

#include <string>

#include "common/model/proto/replication.pb.h"
#include "master/procedures/replication/peer_change.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

struct MasterEnv;

class PeerAdmin {
 public:
  using Done = PidDone;
  explicit PeerAdmin(MasterEnv& env) : env_(env) {}

  // Errors as in HBase: ReplicationPeerNotFoundException; DoNotRetryIOException for all others, and while the switch
  // peer-modification is off.
  void Add(const std::string& id, hbase::pb::ReplicationPeer config, bool enabled, RequestContext context, Done done);
  void Update(const std::string& id, hbase::pb::ReplicationPeer config, RequestContext context, Done done);
  // `change`: kRemove, kEnable or kDisable.
  void Change(PeerChange change, const std::string& id, RequestContext context, Done done);

 private:
  MasterEnv& env_;
};

}  // namespace ratchet::master
