// HBase's ClientMetaService: how clients find the cluster; masters and region servers offer it.
#pragma once

#include "common/model/proto/registry.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kClientMetaService = "ClientMetaService";

inline constexpr rpc::Method<hbase::pb::GetClusterIdRequest, hbase::pb::GetClusterIdResponse> kGetClusterId{
    kClientMetaService, "GetClusterId", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetActiveMasterRequest, hbase::pb::GetActiveMasterResponse> kGetActiveMaster{
    kClientMetaService, "GetActiveMaster", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetMastersRequest, hbase::pb::GetMastersResponse> kGetMasters{
    kClientMetaService, "GetMasters", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetMetaRegionLocationsRequest, hbase::pb::GetMetaRegionLocationsResponse>
    kGetMetaRegionLocations{kClientMetaService, "GetMetaRegionLocations", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetBootstrapNodesRequest, hbase::pb::GetBootstrapNodesResponse>
    kGetBootstrapNodes{kClientMetaService, "GetBootstrapNodes", rpc::Effect::kQueries};

}  // namespace ratchet::methods
