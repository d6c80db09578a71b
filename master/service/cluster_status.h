// HBase's ClusterStatus message, filled with everything that its required fields ask for.
#pragma once

#include <set>

#include "common/model/proto/cluster_status.pb.h"
#include "master/service/master_services.h"

namespace ratchet::master {

// `options`: which parts; empty means all of them.
[[nodiscard]] hbase::pb::ClusterStatus MakeClusterStatus(const ActiveParts& parts, const ServiceEnv& env,
                                                         const std::set<int>& options);

}  // namespace ratchet::master
