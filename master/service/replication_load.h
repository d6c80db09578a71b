// What a region server has told of its replication sources, as HBase's clients expect it in a server's load
// (`status 'replication'` of HBase's shell). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/proto/cluster_status.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/server_name.h"

namespace ratchet::master {

// `now_ms`: wall clock. As a sink a server shows that it waits: what other clusters ship arrives as any client's
// writes, and is not counted apart.
void AddReplicationLoad(const ServerName& server, const std::vector<hbase::pb::ReplicationProgress>& progress,
                        std::int64_t now_ms, hbase::pb::ServerLoad& load);

}  // namespace ratchet::master
