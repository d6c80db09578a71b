// Methods for decommissioned region servers: HBase's of MasterService, and RatchetService's, which return a pid.
#pragma once

#include "common/model/proto/decommission.pb.h"
#include "common/model/proto/drain.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::methods {

inline constexpr rpc::Method<hbase::pb::ListDecommissionedRegionServersRequest,
                             hbase::pb::ListDecommissionedRegionServersResponse>
    kListDecommissionedRegionServers{kMasterService, "ListDecommissionedRegionServers", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::DecommissionRegionServersRequest, hbase::pb::DecommissionRegionServersResponse>
    kDecommissionRegionServers{kMasterService, "DecommissionRegionServers"};
inline constexpr rpc::Method<hbase::pb::RecommissionRegionServerRequest, hbase::pb::RecommissionRegionServerResponse>
    kRecommissionRegionServer{kMasterService, "RecommissionRegionServer"};

inline constexpr rpc::Method<pb::DrainRequest, pb::DrainResponse> kDrain{kRatchetService, "Drain"};
inline constexpr rpc::Method<pb::UndrainRequest, pb::DrainResponse> kUndrain{kRatchetService, "Undrain"};

}  // namespace ratchet::methods
