// HBase's MasterService: requests of clients and operators to the active master.
#pragma once

#include "common/model/proto/common.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/namespace.pb.h"
#include "common/model/proto/store_file_tracker.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kMasterService = "MasterService";

inline constexpr rpc::Method<hbase::pb::MoveRegionRequest, hbase::pb::MoveRegionResponse> kMoveRegion{kMasterService,
                                                                                                      "MoveRegion"};
inline constexpr rpc::Method<hbase::pb::AssignRegionRequest, hbase::pb::AssignRegionResponse> kAssignRegion{
    kMasterService, "AssignRegion"};
inline constexpr rpc::Method<hbase::pb::UnassignRegionRequest, hbase::pb::UnassignRegionResponse> kUnassignRegion{
    kMasterService, "UnassignRegion"};
inline constexpr rpc::Method<hbase::pb::GetProcedureResultRequest, hbase::pb::GetProcedureResultResponse>
    kGetProcedureResult{kMasterService, "getProcedureResult", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::AbortProcedureRequest, hbase::pb::AbortProcedureResponse> kAbortProcedure{
    kMasterService, "AbortProcedure"};
inline constexpr rpc::Method<hbase::pb::ModifyTableStoreFileTrackerRequest,
                             hbase::pb::ModifyTableStoreFileTrackerResponse>
    kModifyTableStoreFileTracker{kMasterService, "ModifyTableStoreFileTracker"};
inline constexpr rpc::Method<hbase::pb::ModifyColumnStoreFileTrackerRequest,
                             hbase::pb::ModifyColumnStoreFileTrackerResponse>
    kModifyColumnStoreFileTracker{kMasterService, "ModifyColumnStoreFileTracker"};
inline constexpr rpc::Method<hbase::pb::LogRequest, hbase::pb::LogEntry> kGetMasterLogEntries{
    kMasterService, "GetLogEntries", rpc::Effect::kQueries};
// Selected by the name of a procedure: flush a table (flush-table-proc), take a snapshot (online-snapshot).
inline constexpr rpc::Method<hbase::pb::ExecProcedureRequest, hbase::pb::ExecProcedureResponse> kExecProcedure{
    kMasterService, "ExecProcedure"};
inline constexpr rpc::Method<hbase::pb::ExecProcedureRequest, hbase::pb::ExecProcedureResponse> kExecProcedureWithRet{
    kMasterService, "ExecProcedureWithRet"};
inline constexpr rpc::Method<hbase::pb::IsProcedureDoneRequest, hbase::pb::IsProcedureDoneResponse> kIsProcedureDone{
    kMasterService, "IsProcedureDone", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetProceduresRequest, hbase::pb::GetProceduresResponse> kGetProcedures{
    kMasterService, "GetProcedures", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetLocksRequest, hbase::pb::GetLocksResponse> kGetLocks{
    kMasterService, "GetLocks", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::CreateNamespaceRequest, hbase::pb::CreateNamespaceResponse> kCreateNamespace{
    kMasterService, "CreateNamespace"};
inline constexpr rpc::Method<hbase::pb::ModifyNamespaceRequest, hbase::pb::ModifyNamespaceResponse> kModifyNamespace{
    kMasterService, "ModifyNamespace"};
inline constexpr rpc::Method<hbase::pb::DeleteNamespaceRequest, hbase::pb::DeleteNamespaceResponse> kDeleteNamespace{
    kMasterService, "DeleteNamespace"};
inline constexpr rpc::Method<hbase::pb::ListNamespacesRequest, hbase::pb::ListNamespacesResponse> kListNamespaces{
    kMasterService, "ListNamespaces", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListNamespaceDescriptorsRequest, hbase::pb::ListNamespaceDescriptorsResponse>
    kListNamespaceDescriptors{kMasterService, "ListNamespaceDescriptors", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetNamespaceDescriptorRequest, hbase::pb::GetNamespaceDescriptorResponse>
    kGetNamespaceDescriptor{kMasterService, "GetNamespaceDescriptor", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListTableNamesByNamespaceRequest, hbase::pb::ListTableNamesByNamespaceResponse>
    kListTableNamesByNamespace{kMasterService, "ListTableNamesByNamespace", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListTableDescriptorsByNamespaceRequest,
                             hbase::pb::ListTableDescriptorsByNamespaceResponse>
    kListTableDescriptorsByNamespace{kMasterService, "ListTableDescriptorsByNamespace", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::IsMasterRunningRequest, hbase::pb::IsMasterRunningResponse> kIsMasterRunning{
    kMasterService, "IsMasterRunning", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetClusterStatusRequest, hbase::pb::GetClusterStatusResponse> kGetClusterStatus{
    kMasterService, "GetClusterStatus", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::IsInMaintenanceModeRequest, hbase::pb::IsInMaintenanceModeResponse>
    kIsMasterInMaintenanceMode{kMasterService, "IsMasterInMaintenanceMode", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SecurityCapabilitiesRequest, hbase::pb::SecurityCapabilitiesResponse>
    kGetSecurityCapabilities{kMasterService, "getSecurityCapabilities", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::BalanceRequest, hbase::pb::BalanceResponse> kBalance{kMasterService, "Balance"};
inline constexpr rpc::Method<hbase::pb::StopMasterRequest, hbase::pb::StopMasterResponse> kStopMaster{kMasterService,
                                                                                                      "StopMaster"};
inline constexpr rpc::Method<hbase::pb::ShutdownRequest, hbase::pb::ShutdownResponse> kShutdown{kMasterService,
                                                                                                "Shutdown"};
inline constexpr rpc::Method<hbase::pb::GetTableNamesRequest, hbase::pb::GetTableNamesResponse> kGetTableNames{
    kMasterService, "GetTableNames", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetTableDescriptorsRequest, hbase::pb::GetTableDescriptorsResponse>
    kGetTableDescriptors{kMasterService, "GetTableDescriptors", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetTableStateRequest, hbase::pb::GetTableStateResponse> kGetTableState{
    kMasterService, "GetTableState", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListTableNamesByStateRequest, hbase::pb::ListTableNamesByStateResponse>
    kListTableNamesByState{kMasterService, "ListTableNamesByState", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListTableDescriptorsByStateRequest,
                             hbase::pb::ListTableDescriptorsByStateResponse>
    kListTableDescriptorsByState{kMasterService, "ListTableDescriptorsByState", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetSchemaAlterStatusRequest, hbase::pb::GetSchemaAlterStatusResponse>
    kGetSchemaAlterStatus{kMasterService, "GetSchemaAlterStatus", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::MajorCompactionTimestampRequest, hbase::pb::MajorCompactionTimestampResponse>
    kLastMajorCompaction{kMasterService, "getLastMajorCompactionTimestamp", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::MajorCompactionTimestampForRegionRequest,
                             hbase::pb::MajorCompactionTimestampResponse>
    kLastMajorCompactionOfRegion{kMasterService, "getLastMajorCompactionTimestampForRegion", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::CreateTableRequest, hbase::pb::CreateTableResponse> kCreateTable{kMasterService,
                                                                                                         "CreateTable"};
inline constexpr rpc::Method<hbase::pb::EnableTableRequest, hbase::pb::EnableTableResponse> kEnableTable{kMasterService,
                                                                                                         "EnableTable"};
inline constexpr rpc::Method<hbase::pb::DisableTableRequest, hbase::pb::DisableTableResponse> kDisableTable{
    kMasterService, "DisableTable"};
inline constexpr rpc::Method<hbase::pb::DeleteTableRequest, hbase::pb::DeleteTableResponse> kDeleteTable{kMasterService,
                                                                                                         "DeleteTable"};
inline constexpr rpc::Method<hbase::pb::TruncateTableRequest, hbase::pb::TruncateTableResponse> kTruncateTable{
    kMasterService, "truncateTable"};
inline constexpr rpc::Method<hbase::pb::ModifyTableRequest, hbase::pb::ModifyTableResponse> kModifyTable{kMasterService,
                                                                                                         "ModifyTable"};
inline constexpr rpc::Method<hbase::pb::AddColumnRequest, hbase::pb::AddColumnResponse> kAddColumn{kMasterService,
                                                                                                   "AddColumn"};
inline constexpr rpc::Method<hbase::pb::ModifyColumnRequest, hbase::pb::ModifyColumnResponse> kModifyColumn{
    kMasterService, "ModifyColumn"};
inline constexpr rpc::Method<hbase::pb::DeleteColumnRequest, hbase::pb::DeleteColumnResponse> kDeleteColumn{
    kMasterService, "DeleteColumn"};
inline constexpr rpc::Method<hbase::pb::SplitTableRegionRequest, hbase::pb::SplitTableRegionResponse> kSplitRegion{
    kMasterService, "SplitRegion"};
inline constexpr rpc::Method<hbase::pb::MergeTableRegionsRequest, hbase::pb::MergeTableRegionsResponse>
    kMergeTableRegions{kMasterService, "MergeTableRegions"};
inline constexpr rpc::Method<hbase::pb::TruncateRegionRequest, hbase::pb::TruncateRegionResponse> kTruncateRegion{
    kMasterService, "TruncateRegion"};
inline constexpr rpc::Method<hbase::pb::FlushTableRequest, hbase::pb::FlushTableResponse> kFlushTable{kMasterService,
                                                                                                      "FlushTable"};

}  // namespace ratchet::methods
