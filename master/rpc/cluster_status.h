// Builds HBase's ClusterStatus message with all required fields.
#pragma once

#include <set>

#include "common/model/proto/cluster_status.pb.h"
#include "master/rpc/master_services.h"

namespace ratchet::master {

// `options`: the requested parts; empty means all.
[[nodiscard]] hbase::pb::ClusterStatus MakeClusterStatus(const ActiveParts& parts, const ServiceEnv& env,
                                                         const std::set<int>& options);

}  // namespace ratchet::master
