#include "common/client/admin.h"

#include <algorithm>

#include "common/model/codec.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::client {

Result<std::uint64_t> Admin::CreateTable(const TableDescriptor& table, const std::vector<std::string>& split_keys) {
  hbase::pb::CreateTableRequest request;
  ToProto(table, *request.mutable_table_schema());
  for (const auto& key : split_keys) request.add_split_keys(key);
  return Submit(methods::kCreateTable, request);
}

Result<std::uint64_t> Admin::EnableTable(const TableName& table) {
  hbase::pb::EnableTableRequest request;
  ToProto(table, *request.mutable_table_name());
  return Submit(methods::kEnableTable, request);
}

Result<std::uint64_t> Admin::DisableTable(const TableName& table) {
  hbase::pb::DisableTableRequest request;
  ToProto(table, *request.mutable_table_name());
  return Submit(methods::kDisableTable, request);
}

Result<std::uint64_t> Admin::DeleteTable(const TableName& table) {
  hbase::pb::DeleteTableRequest request;
  ToProto(table, *request.mutable_table_name());
  return Submit(methods::kDeleteTable, request);
}

Result<std::uint64_t> Admin::TruncateTable(const TableName& table, bool preserve_splits) {
  hbase::pb::TruncateTableRequest request;
  ToProto(table, *request.mutable_tablename());
  request.set_preservesplits(preserve_splits);
  return Submit(methods::kTruncateTable, request);
}

namespace {

template <class Request>
Request FamilyRequest(const TableName& table, const FamilyDescriptor& family) {
  Request request;
  ToProto(table, *request.mutable_table_name());
  ToProto(family, *request.mutable_column_families());
  return request;
}

}  // namespace

Result<std::uint64_t> Admin::ModifyTable(const TableDescriptor& table, bool reopen) {
  hbase::pb::ModifyTableRequest request;
  ToProto(table.name, *request.mutable_table_name());
  ToProto(table, *request.mutable_table_schema());
  if (!reopen) request.set_reopen_regions(false);
  return Submit(methods::kModifyTable, request);
}

Result<std::uint64_t> Admin::AddFamily(const TableName& table, const FamilyDescriptor& family) {
  auto request = FamilyRequest<hbase::pb::AddColumnRequest>(table, family);
  return Submit(methods::kAddColumn, request);
}

Result<std::uint64_t> Admin::ModifyFamily(const TableName& table, const FamilyDescriptor& family) {
  auto request = FamilyRequest<hbase::pb::ModifyColumnRequest>(table, family);
  return Submit(methods::kModifyColumn, request);
}

Result<std::uint64_t> Admin::DeleteFamily(const TableName& table, const std::string& family) {
  hbase::pb::DeleteColumnRequest request;
  ToProto(table, *request.mutable_table_name());
  request.set_column_name(family);
  return Submit(methods::kDeleteColumn, request);
}

Result<std::uint64_t> Admin::FlushTable(const TableName& table) {
  hbase::pb::FlushTableRequest request;
  ToProto(table, *request.mutable_table_name());
  return Submit(methods::kFlushTable, request);
}

Result<std::uint64_t> Admin::CompactTable(const TableName& table, bool major) {
  pb::CompactTableRequest request;
  ToProto(table, *request.mutable_table_name());
  request.set_major(major);
  return Submit(methods::kCompactTable, request);
}

Result<AlterProgress> Admin::AlterStatus(const TableName& table) {
  hbase::pb::GetSchemaAlterStatusRequest request;
  ToProto(table, *request.mutable_table_name());
  RATCHET_ASSIGN(const auto response, Call(methods::kGetSchemaAlterStatus, request));
  return AlterProgress{response.yet_to_update_regions(), response.total_regions()};
}

Result<ProcedureOutcome> Admin::Wait(std::uint64_t pid) {
  using Response = hbase::pb::GetProcedureResultResponse;
  hbase::pb::GetProcedureResultRequest request;
  request.set_proc_id(pid);
  connection_.activity().Submitted(pid);
  RetryLoop loop = connection_.NewLoop(timeout_);
  for (;;) {
    RATCHET_ASSIGN(auto response, (connection_.master().Call(loop, methods::kGetProcedureResult, request)));
    if (response.state() == Response::NOT_FOUND) {
      return Error(Code::kNotFound, fmt::format("procedure {} is not known", pid));
    }
    if (response.state() == Response::FINISHED) {
      ProcedureOutcome outcome;
      outcome.result = response.result();
      if (response.has_exception()) outcome.error = rpc::ErrorFrom(response.exception());
      return outcome;
    }
    RATCHET_TRY(loop.Poll(fmt::format("waiting for procedure {}", pid)));
  }
}

Status Admin::WaitOk(Result<std::uint64_t> pid) {
  if (!pid.ok()) return pid.error();
  RATCHET_ASSIGN(auto outcome, Wait(*pid));
  if (outcome.error) return *outcome.error;
  return Ok();
}

Result<bool> Admin::Abort(std::uint64_t pid) {
  hbase::pb::AbortProcedureRequest request;
  request.set_proc_id(pid);
  RATCHET_ASSIGN(auto response, (Call(methods::kAbortProcedure, request)));
  return response.is_procedure_aborted();
}

Result<std::uint64_t> Admin::SplitRegion(const RegionInfo& region, const std::string& split_key) {
  hbase::pb::SplitTableRegionRequest request;
  ToProto(region, *request.mutable_region_info());
  if (!split_key.empty()) request.set_split_row(split_key);
  return Submit(methods::kSplitRegion, request);
}

Result<std::uint64_t> Admin::TruncateRegion(const RegionInfo& region) {
  hbase::pb::TruncateRegionRequest request;
  ToProto(region, *request.mutable_region_info());
  return Submit(methods::kTruncateRegion, request);
}

Result<std::uint64_t> Admin::MergeRegions(const std::vector<std::string>& encoded_regions) {
  hbase::pb::MergeTableRegionsRequest request;
  for (const std::string& region : encoded_regions) SpecifyEncoded(region, *request.add_region());
  return Submit(methods::kMergeTableRegions, request);
}

Status Admin::Move(const std::string& encoded_region, const std::optional<ServerName>& destination) {
  hbase::pb::MoveRegionRequest request;
  SpecifyEncoded(encoded_region, *request.mutable_region());
  if (destination) ToProto(*destination, *request.mutable_dest_server_name());
  RATCHET_TRY((Call(methods::kMoveRegion, request)));
  return Ok();
}

Status Admin::Assign(const std::string& encoded_region) {
  hbase::pb::AssignRegionRequest request;
  SpecifyEncoded(encoded_region, *request.mutable_region());
  RATCHET_TRY((Call(methods::kAssignRegion, request)));
  return Ok();
}

Status Admin::Unassign(const std::string& encoded_region) {
  hbase::pb::UnassignRegionRequest request;
  SpecifyEncoded(encoded_region, *request.mutable_region());
  RATCHET_TRY((Call(methods::kUnassignRegion, request)));
  return Ok();
}

Result<std::uint64_t> Admin::Transit(RegionVerb verb, const std::string& encoded_region,
                                     const std::optional<ServerName>& destination) {
  pb::TransitRegionRequest request;
  switch (verb) {
    case RegionVerb::kAssign: request.set_verb(pb::TransitRegionRequest::ASSIGN); break;
    case RegionVerb::kUnassign: request.set_verb(pb::TransitRegionRequest::UNASSIGN); break;
    case RegionVerb::kMove: request.set_verb(pb::TransitRegionRequest::MOVE); break;
  }
  request.set_encoded_name(encoded_region);
  if (destination) ToProto(*destination, *request.mutable_destination());
  return Submit(methods::kTransitRegion, request);
}

Result<std::uint64_t> Admin::GiveUpRegion(const std::string& encoded_region) {
  pb::GiveUpRegionRequest request;
  request.set_encoded_name(encoded_region);
  return Submit(methods::kGiveUpRegion, request);
}

Result<std::uint64_t> Admin::PutBackEdits(const std::string& encoded_region) {
  pb::PutBackEditsRequest request;
  request.set_encoded_name(encoded_region);
  return Submit(methods::kPutBackEdits, request);
}

Result<std::uint64_t> Admin::FillHoles(const TableName& table) {
  pb::FillHolesRequest request;
  ToProto(table, *request.mutable_table());
  return Submit(methods::kFillHoles, request);
}

Result<std::vector<TableName>> Admin::ListTables(bool include_system) {
  hbase::pb::GetTableNamesRequest request;
  request.set_regex(".*");
  request.set_include_sys_tables(include_system);
  RATCHET_ASSIGN(auto response, (Call(methods::kGetTableNames, request)));
  std::vector<TableName> tables;
  for (const auto& name : response.table_names()) {
    RATCHET_ASSIGN(auto table, FromProto(name));
    tables.push_back(std::move(table));
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

Result<TableDescriptor> Admin::Describe(const TableName& table) {
  hbase::pb::GetTableDescriptorsRequest request;
  ToProto(table, *request.add_table_names());
  request.set_include_sys_tables(true);
  RATCHET_ASSIGN(auto response, (Call(methods::kGetTableDescriptors, request)));
  if (response.table_schema_size() == 0) {
    return rpc::RemoteError(rpc::exception::kTableNotFound, fmt::format("table {} does not exist", table.ToString()));
  }
  return FromProto(response.table_schema(0));
}

Result<TableState> Admin::State(const TableName& table) {
  hbase::pb::GetTableStateRequest request;
  ToProto(table, *request.mutable_table_name());
  RATCHET_ASSIGN(auto response, (Call(methods::kGetTableState, request)));
  return static_cast<TableState>(response.table_state().state());
}

Result<std::vector<RegionLocation>> Admin::Regions(const TableName& table) {
  RetryLoop loop = connection_.NewLoop(timeout_);
  return connection_.locator().LocateAll(loop, table);
}

Result<hbase::pb::ClusterStatus> Admin::ClusterStatus() {
  RATCHET_ASSIGN(auto response, (Call(methods::kGetClusterStatus, hbase::pb::GetClusterStatusRequest())));
  return std::move(*response.mutable_cluster_status());
}

Result<hbase::pb::GetProceduresResponse> Admin::Procedures() {
  return Call(methods::kGetProcedures, hbase::pb::GetProceduresRequest());
}

Result<hbase::pb::GetLocksResponse> Admin::Locks() { return Call(methods::kGetLocks, hbase::pb::GetLocksRequest()); }

}  // namespace ratchet::client
