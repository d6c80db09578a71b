// HBase's AdminService: orders of the master and requests of operators, at region servers.
#pragma once

#include "common/model/proto/admin.pb.h"
#include "common/model/proto/common.pb.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/proto/slow_log.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kAdminService = "AdminService";

inline constexpr rpc::Method<hbase::pb::ExecuteProceduresRequest, hbase::pb::ExecuteProceduresResponse>
    kExecuteProcedures{kAdminService, "ExecuteProcedures"};
inline constexpr rpc::Method<hbase::pb::GetRegionInfoRequest, hbase::pb::GetRegionInfoResponse> kGetRegionInfo{
    kAdminService, "GetRegionInfo", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetOnlineRegionRequest, hbase::pb::GetOnlineRegionResponse> kGetOnlineRegion{
    kAdminService, "GetOnlineRegion", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetStoreFileRequest, hbase::pb::GetStoreFileResponse> kGetStoreFile{
    kAdminService, "GetStoreFile", rpc::Effect::kQueries};
// A server's slow and large calls.
inline constexpr rpc::Method<hbase::pb::SlowLogResponseRequest, hbase::pb::SlowLogResponses> kGetSlowLogResponses{
    kAdminService, "GetSlowLogResponses", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SlowLogResponseRequest, hbase::pb::SlowLogResponses> kGetLargeLogResponses{
    kAdminService, "GetLargeLogResponses", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ClearSlowLogResponseRequest, hbase::pb::ClearSlowLogResponses>
    kClearSlowLogsResponses{kAdminService, "ClearSlowLogsResponses"};
inline constexpr rpc::Method<hbase::pb::LogRequest, hbase::pb::LogEntry> kGetLogEntries{kAdminService, "GetLogEntries",
                                                                                        rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::FlushRegionRequest, hbase::pb::FlushRegionResponse> kFlushRegion{kAdminService,
                                                                                                         "FlushRegion"};
inline constexpr rpc::Method<hbase::pb::CompactRegionRequest, hbase::pb::CompactRegionResponse> kCompactRegion{
    kAdminService, "CompactRegion"};
inline constexpr rpc::Method<hbase::pb::CompactionSwitchRequest, hbase::pb::CompactionSwitchResponse> kCompactionSwitch{
    kAdminService, "CompactionSwitch"};
inline constexpr rpc::Method<hbase::pb::RollWALWriterRequest, hbase::pb::RollWALWriterResponse> kRollWALWriter{
    kAdminService, "RollWALWriter"};
inline constexpr rpc::Method<hbase::pb::UpdateConfigurationRequest, hbase::pb::UpdateConfigurationResponse>
    kUpdateConfiguration{kAdminService, "UpdateConfiguration"};
inline constexpr rpc::Method<hbase::pb::GetServerInfoRequest, hbase::pb::GetServerInfoResponse> kGetServerInfo{
    kAdminService, "GetServerInfo", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ProbeServerRequest, hbase::pb::ProbeServerResponse> kProbeServer{
    kAdminService, "ProbeServer", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetRegionLoadRequest, hbase::pb::GetRegionLoadResponse> kGetRegionLoad{
    kAdminService, "GetRegionLoad", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetSpaceQuotaSnapshotsRequest, hbase::pb::GetSpaceQuotaSnapshotsResponse>
    kGetSpaceQuotaSnapshots{kAdminService, "GetSpaceQuotaSnapshots", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::StopServerRequest, hbase::pb::StopServerResponse> kStopServer{kAdminService,
                                                                                                      "StopServer"};
inline constexpr rpc::Method<hbase::pb::OpenRegionRequest, hbase::pb::OpenRegionResponse> kOpenRegion{kAdminService,
                                                                                                      "OpenRegion"};
inline constexpr rpc::Method<hbase::pb::CloseRegionRequest, hbase::pb::CloseRegionResponse> kCloseRegion{kAdminService,
                                                                                                         "CloseRegion"};

}  // namespace ratchet::methods
