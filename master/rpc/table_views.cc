// MasterService: names, descriptors and states of tables.
#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/procedures/claims_of.h"
#include "master/procedures/core/schema_reader.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/table_filter.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

template <class Request>
Result<TableFilter> FilterOf(const Request& request) {
  std::optional<std::string> regex;
  if (request.has_regex()) regex = request.regex();
  return TableFilter::Make(regex, request.namespace_(), request.include_sys_tables());
}

Result<pb::GetTableNamesResponse> TableNames(const ServiceEnv& env, const ActiveParts& parts,
                                             const rpc::CallContext& call, const pb::GetTableNamesRequest& request) {
  RATCHET_ASSIGN(const TableFilter filter, FilterOf(request));
  pb::GetTableNamesResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (filter.Matches(table.name) && SeesTable(env, call, table.name))
      ToProto(table.name, *response.add_table_names());
  }
  return response;
}

// Lists omit a table whose descriptor cannot be read; `ratchet status` shows it. A request by name returns the cause.
Result<pb::GetTableDescriptorsResponse> TableDescriptors(const ServiceEnv& env, const ActiveParts& parts,
                                                         const rpc::CallContext& call,
                                                         const pb::GetTableDescriptorsRequest& request) {
  pb::GetTableDescriptorsResponse response;
  if (request.table_names_size() > 0) {
    for (const auto& name : request.table_names()) {
      RATCHET_ASSIGN(const TableName table, FromProto(name));
      const auto node = parts.logic->tables.Get(table);
      if (!node.has_value()) continue;
      if (node->schema == nullptr) return SchemaMissing(*node);
      ToProto(*node->schema, *response.add_table_schema());
    }
    return response;
  }
  RATCHET_ASSIGN(const TableFilter filter, FilterOf(request));
  for (const TableNode& table : parts.logic->tables.List()) {
    if (filter.Matches(table.name) && table.schema != nullptr && SeesDescriptor(env, call, table.name))
      ToProto(*table.schema, *response.add_table_schema());
  }
  return response;
}

Result<pb::GetTableStateResponse> TableStateOf(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                               const pb::GetTableStateRequest& request) {
  RATCHET_ASSIGN(const TableName table, FromProto(request.table_name()));
  const auto node = parts.logic->tables.Get(table);
  if (!node.has_value()) return TableNotFound(table);
  pb::GetTableStateResponse response;
  response.mutable_table_state()->set_state(static_cast<pb::TableState::State>(node->state));
  return response;
}

bool InState(const TableNode& table, bool enabled) {
  return table.state == (enabled ? TableState::kEnabled : TableState::kDisabled);
}

Result<pb::ListTableNamesByStateResponse> NamesByState(const ServiceEnv& env, const ActiveParts& parts,
                                                       const rpc::CallContext& call,
                                                       const pb::ListTableNamesByStateRequest& request) {
  pb::ListTableNamesByStateResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (InState(table, request.is_enabled()) && SeesTable(env, call, table.name))
      ToProto(table.name, *response.add_table_names());
  }
  return response;
}

Result<pb::ListTableDescriptorsByStateResponse> DescriptorsByState(
    const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
    const pb::ListTableDescriptorsByStateRequest& request) {
  pb::ListTableDescriptorsByStateResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (InState(table, request.is_enabled()) && table.schema != nullptr && SeesDescriptor(env, call, table.name))
      ToProto(*table.schema, *response.add_table_schema());
  }
  return response;
}

// Returns true if a modification of the table is running: then a region with an unknown descriptor counts as old (S48:
// schema pinned in the order).
bool IsAltered(const ActiveParts& parts, const TableName& table) {
  bool altered = false;
  ForEachClaim(*parts.executor, kClaimsDescriptors,
               [&](const Claims& claims) { altered = altered || claims.altered == table; });
  return altered;
}

Result<pb::GetSchemaAlterStatusResponse> AlterStatus(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                     const pb::GetSchemaAlterStatusRequest& request) {
  RATCHET_ASSIGN(const TableName table, FromProto(request.table_name()));
  const auto node = parts.logic->tables.Get(table);
  if (!node) return TableNotFound(table);
  const bool altered = IsAltered(parts, table);
  std::uint32_t total = 0;
  std::uint32_t old = 0;
  for (const RegionNode& region : parts.logic->regions.OfTable(table)) {
    if (!HasItsRows(region.state)) continue;
    ++total;
    if (region.state == RegionState::kClosed || region.schema_number >= node->schema_number) continue;
    if (altered || region.schema_number != 0) ++old;
  }
  pb::GetSchemaAlterStatusResponse response;
  response.set_total_regions(total);
  response.set_yet_to_update_regions(old);
  return response;
}

// Registers a list that leaves out what its caller may not see.
template <class Request, class Response>
void AddList(rpc::Service& service, ServiceEnv& env, const rpc::Method<Request, Response>& method,
             Result<Response> (*list)(const ServiceEnv&, const ActiveParts&, const rpc::CallContext&, const Request&)) {
  Answer(service, env.gate, Need::kReady, method,
         [&env, list](const ActiveParts& parts, const rpc::CallContext& call, const Request& request) {
           return list(env, parts, call, request);
         });
}

}  // namespace

void AddTableViews(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  AddList(service, env, methods::kGetTableNames, &TableNames);
  AddList(service, env, methods::kGetTableDescriptors, &TableDescriptors);
  Answer(service, gate, Need::kReady, methods::kGetTableState, TableStateOf);
  AddList(service, env, methods::kListTableNamesByState, &NamesByState);
  AddList(service, env, methods::kListTableDescriptorsByState, &DescriptorsByState);
  Answer(service, gate, Need::kReady, methods::kGetSchemaAlterStatus, AlterStatus);
}

}  // namespace ratchet::master
