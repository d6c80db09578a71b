// HBase's HbckService: repairs that an operator requests from the active master.
#pragma once

#include "common/model/proto/hbck.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kHbckService = "HbckService";

inline constexpr rpc::Method<hbase::pb::ScheduleServerCrashProcedureRequest,
                             hbase::pb::ScheduleServerCrashProcedureResponse>
    kScheduleServerCrashProcedure{kHbckService, "ScheduleServerCrashProcedure"};
inline constexpr rpc::Method<hbase::pb::AssignsRequest, hbase::pb::AssignsResponse> kAssigns{kHbckService, "Assigns"};
inline constexpr rpc::Method<hbase::pb::UnassignsRequest, hbase::pb::UnassignsResponse> kUnassigns{kHbckService,
                                                                                                   "Unassigns"};
inline constexpr rpc::Method<hbase::pb::BypassProcedureRequest, hbase::pb::BypassProcedureResponse> kBypassProcedure{
    kHbckService, "BypassProcedure"};

}  // namespace ratchet::methods
