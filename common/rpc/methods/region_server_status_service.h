// HBase's RegionServerStatusService: reports and requests of region servers to the active master.
#pragma once

#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kRegionServerStatusService = "RegionServerStatusService";

inline constexpr rpc::Method<hbase::pb::RegionServerStartupRequest, hbase::pb::RegionServerStartupResponse>
    kRegionServerStartup{kRegionServerStatusService, "RegionServerStartup"};
inline constexpr rpc::Method<hbase::pb::RegionServerReportRequest, hbase::pb::RegionServerReportResponse>
    kRegionServerReport{kRegionServerStatusService, "RegionServerReport"};
inline constexpr rpc::Method<hbase::pb::ReportRegionStateTransitionRequest,
                             hbase::pb::ReportRegionStateTransitionResponse>
    kReportRegionStateTransition{kRegionServerStatusService, "ReportRegionStateTransition"};
inline constexpr rpc::Method<hbase::pb::ReportProcedureDoneRequest, hbase::pb::ReportProcedureDoneResponse>
    kReportProcedureDone{kRegionServerStatusService, "ReportProcedureDone"};
inline constexpr rpc::Method<hbase::pb::ReportRSFatalErrorRequest, hbase::pb::ReportRSFatalErrorResponse>
    kReportRSFatalError{kRegionServerStatusService, "ReportRSFatalError"};
inline constexpr rpc::Method<hbase::pb::GetLastFlushedSequenceIdRequest, hbase::pb::GetLastFlushedSequenceIdResponse>
    kGetLastFlushedSequenceId{kRegionServerStatusService, "GetLastFlushedSequenceId", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetLiveRegionServersRequest, hbase::pb::GetLiveRegionServersResponse>
    kGetLiveRegionServers{kRegionServerStatusService, "GetLiveRegionServers", rpc::Effect::kQueries};

}  // namespace ratchet::methods
