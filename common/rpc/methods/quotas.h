// HBase's MasterService: quotas of requests, and its requests for space quotas.
#pragma once

#include "common/model/proto/quota.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::methods {

// Answered when the change is durable; region servers receive it with the answers to their next reports.
inline constexpr rpc::Method<hbase::pb::SetQuotaRequest, hbase::pb::SetQuotaResponse> kSetQuota{kMasterService,
                                                                                                "SetQuota"};
inline constexpr rpc::Method<hbase::pb::GetQuotaStatesRequest, hbase::pb::GetQuotaStatesResponse> kGetQuotaStates{
    kMasterService, "GetQuotaStates", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetSpaceQuotaRegionSizesRequest, hbase::pb::GetSpaceQuotaRegionSizesResponse>
    kGetSpaceQuotaRegionSizes{kMasterService, "GetSpaceQuotaRegionSizes", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SwitchRpcThrottleRequest, hbase::pb::SwitchRpcThrottleResponse>
    kSwitchRpcThrottle{kMasterService, "SwitchRpcThrottle"};
inline constexpr rpc::Method<hbase::pb::IsRpcThrottleEnabledRequest, hbase::pb::IsRpcThrottleEnabledResponse>
    kIsRpcThrottleEnabled{kMasterService, "IsRpcThrottleEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SwitchExceedThrottleQuotaRequest, hbase::pb::SwitchExceedThrottleQuotaResponse>
    kSwitchExceedThrottleQuota{kMasterService, "SwitchExceedThrottleQuota"};

}  // namespace ratchet::methods
