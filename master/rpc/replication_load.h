// Converts a region server's reports about its replication sources to HBase's form in a server's load (`status
// 'replication'` of HBase's shell). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/proto/cluster_status.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/server_name.h"

namespace ratchet::master {

// `now_ms`: wall clock. A server always shows an idle sink, because writes from other clusters arrive like client
// writes and are not counted separately.
void AddReplicationLoad(const ServerName& server, const std::vector<hbase::pb::ReplicationProgress>& progress,
                        std::int64_t now_ms, hbase::pb::ServerLoad& load);

}  // namespace ratchet::master
