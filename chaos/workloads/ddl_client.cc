#include "chaos/workloads/ddl_client.h"

#include <memory>
#include <utility>

#include "chaos/workloads/load.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kSlice{3'000};
constexpr int kStrangeAnswers = 10;  // retries after errors that the client does not know

template <class Request, class Response>
DdlRequest Repeatable(client::Connection& connection, const rpc::Method<Request, Response>& method, Request request) {
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  return [request = std::move(request), method](client::Connection& via) -> Result<std::uint64_t> {
    client::Admin admin(via, kSlice);
    RATCHET_ASSIGN(const auto response, admin.Call(method, request));
    if constexpr (requires { response.proc_id(); }) {
      return response.proc_id();
    } else {
      return response.pid();
    }
  };
}

template <class Request, class Response>
DdlRequest OfTable(client::Connection& connection, const rpc::Method<Request, Response>& method,
                   const TableName& table) {
  Request request;
  ToProto(table, *request.mutable_table_name());
  return Repeatable(connection, method, std::move(request));
}

template <class Request, class Response>
DdlRequest OfFamily(client::Connection& connection, const rpc::Method<Request, Response>& method,
                    const TableName& table, const FamilyDescriptor& family) {
  Request request;
  ToProto(table, *request.mutable_table_name());
  ToProto(family, *request.mutable_column_families());
  return Repeatable(connection, method, std::move(request));
}

// Returns true if a master has examined the request and refuses it: one of HBase's exceptions that the client's loop
// does not treat as transient. This includes "another procedure has the region".
bool IsRefusal(const Error& error) {
  return error.code() != Code::kTimeout && error.remote_class().starts_with("org.apache.hadoop.hbase.");
}

}  // namespace

DdlRequest MakeDdlRequest(client::Connection& connection, DdlVerb verb, const TableName& table,
                          const std::string& family, const std::vector<std::string>& split_keys) {
  switch (verb) {
    case DdlVerb::kCreate: break;
    case DdlVerb::kEnable: return OfTable(connection, methods::kEnableTable, table);
    case DdlVerb::kDisable: return OfTable(connection, methods::kDisableTable, table);
    case DdlVerb::kDelete: return OfTable(connection, methods::kDeleteTable, table);
  }
  TableDescriptor descriptor;
  descriptor.name = table;
  descriptor.families.push_back(DefaultFamily(family));
  hbase::pb::CreateTableRequest request;
  ToProto(descriptor, *request.mutable_table_schema());
  for (const auto& key : split_keys) request.add_split_keys(key);
  return Repeatable(connection, methods::kCreateTable, std::move(request));
}

DdlRequest MakeModifyTableRequest(client::Connection& connection, const TableDescriptor& table) {
  hbase::pb::ModifyTableRequest request;
  ToProto(table.name, *request.mutable_table_name());
  ToProto(table, *request.mutable_table_schema());
  return Repeatable(connection, methods::kModifyTable, std::move(request));
}

DdlRequest MakeAddFamilyRequest(client::Connection& connection, const TableName& table,
                                const FamilyDescriptor& family) {
  return OfFamily(connection, methods::kAddColumn, table, family);
}

DdlRequest MakeModifyFamilyRequest(client::Connection& connection, const TableName& table,
                                   const FamilyDescriptor& family) {
  return OfFamily(connection, methods::kModifyColumn, table, family);
}

DdlRequest MakeDeleteFamilyRequest(client::Connection& connection, const TableName& table, const std::string& family) {
  hbase::pb::DeleteColumnRequest request;
  ToProto(table, *request.mutable_table_name());
  request.set_column_name(family);
  return Repeatable(connection, methods::kDeleteColumn, std::move(request));
}

DdlRequest MakeMoveRequest(client::Connection& connection, const std::string& encoded_region,
                           const std::optional<ServerName>& destination) {
  pb::TransitRegionRequest request;
  request.set_verb(pb::TransitRegionRequest::MOVE);
  request.set_encoded_name(encoded_region);
  if (destination) ToProto(*destination, *request.mutable_destination());
  return Repeatable(connection, methods::kTransitRegion, std::move(request));
}

DdlRequest MakeDrainRequest(client::Connection& connection, const ServerName& server) {
  pb::DrainRequest request;
  ToProto(server, *request.mutable_server());
  return Repeatable(connection, methods::kDrain, std::move(request));
}

DdlRequest MakeUndrainRequest(client::Connection& connection, const ServerName& server,
                              const std::vector<std::string>& encoded_regions) {
  pb::UndrainRequest request;
  ToProto(server, *request.mutable_server());
  for (const std::string& region : encoded_regions) request.add_encoded_name(region);
  return Repeatable(connection, methods::kUndrain, std::move(request));
}

DdlRequest MakeSplitRequest(client::Connection& connection, const RegionInfo& region, const std::string& split_key) {
  hbase::pb::SplitTableRegionRequest request;
  ToProto(region, *request.mutable_region_info());
  request.set_split_row(split_key);
  return Repeatable(connection, methods::kSplitRegion, std::move(request));
}

DdlRequest MakeMergeRequest(client::Connection& connection, const std::vector<std::string>& encoded_regions) {
  hbase::pb::MergeTableRegionsRequest request;
  for (const std::string& region : encoded_regions) SpecifyEncoded(region, *request.add_region());
  return Repeatable(connection, methods::kMergeTableRegions, std::move(request));
}

OperationOutcome AsOperation(DdlOutcome outcome) {
  switch (outcome) {
    case DdlOutcome::kSucceeded: return OperationOutcome::kOk;
    case DdlOutcome::kFailed:
    case DdlOutcome::kRefused: return OperationOutcome::kFailed;
    case DdlOutcome::kUnknown:
    case DdlOutcome::kUnfinished:
    case DdlOutcome::kLost: break;
  }
  return OperationOutcome::kUnknown;
}

DdlEnd RunToEnd(client::Connection& connection, const DdlRequest& request, const GiveUp& give_up) {
  bool perhaps_accepted = false;
  for (int strange = 0;;) {
    const auto pid = request(connection);
    if (pid.ok()) return WaitForEnd(connection, *pid, give_up);
    const Error& error = pid.error();
    // All attempts have one nonce, so this answer holds for all: if one had been accepted, the answer would be its pid.
    if (IsRefusal(error)) return {DdlOutcome::kRefused, std::nullopt, error.ToString(), error.code(), {}};
    perhaps_accepted = perhaps_accepted || OutcomeOf(error) == OperationOutcome::kUnknown;
    if (error.code() != Code::kTimeout) ++strange;
    if (give_up() || strange > kStrangeAnswers) {
      return {perhaps_accepted ? DdlOutcome::kUnknown : DdlOutcome::kRefused,
              std::nullopt,
              error.ToString(),
              error.code(),
              {}};
    }
  }
}

DdlEnd WaitForEnd(client::Connection& connection, std::uint64_t pid, const GiveUp& give_up) {
  client::Admin admin(connection, kSlice);
  for (;;) {
    const auto ended = admin.Wait(pid);
    if (ended.ok()) {
      if (ended->error) return {DdlOutcome::kFailed, pid, ended->error->ToString(), ended->error->code(), {}};
      return {DdlOutcome::kSucceeded, pid, {}, {}, ended->result};
    }
    if (ended.error().code() == Code::kNotFound) return {DdlOutcome::kLost, pid, ended.error().ToString(), {}, {}};
    if (give_up()) return {DdlOutcome::kUnfinished, pid, ended.error().ToString(), {}, {}};
  }
}

}  // namespace ratchet::chaos
