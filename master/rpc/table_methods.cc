// MasterService: create, enable, disable, alter, delete.
#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

void CreateTable(const ActiveParts& parts, const rpc::CallContext& call, const pb::CreateTableRequest& request,
                 const rpc::Responder<pb::CreateTableResponse>& responder) {
  auto descriptor = FromProto(request.table_schema());
  if (!descriptor.ok()) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, descriptor.error().message()));
    return;
  }
  std::vector<std::string> keys(request.split_keys().begin(), request.split_keys().end());
  parts.logic->admin.CreateTable(std::move(*descriptor), std::move(keys), ContextOf(call, request),
                                 AnswerPid(parts, responder));
}

template <class Request>
Result<TableName> TableIn(const Request& request) {
  if constexpr (requires { request.tablename(); }) {
    return FromProto(request.tablename());
  } else {
    return FromProto(request.table_name());
  }
}

// `start`: (TableAdmin&, table, request, context, done) -> void
template <class Request, class Response, class Start>
void AddVerb(rpc::Service& service, const MasterGate& gate, const rpc::Method<Request, Response>& method, Start start) {
  AnswerLater(service, gate, Need::kReady, method,
              [start](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                      const rpc::Responder<Response>& responder) {
                const auto table = TableIn(request);
                if (!table.ok()) {
                  responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, table.error().message()));
                  return;
                }
                start(parts.logic->admin, *table, request, ContextOf(call, request), AnswerPid(parts, responder));
              });
}

// A request whose only parameter is the table.
using TableVerb = void (TableAdmin::*)(const TableName&, RequestContext, TableAdmin::Done);
auto Plain(TableVerb verb) {
  return [verb](TableAdmin& admin, const TableName& table, const auto& /*request*/, RequestContext context,
                TableAdmin::Done done) { (admin.*verb)(table, std::move(context), std::move(done)); };
}

void FlushTable(TableAdmin& admin, const TableName& table, const pb::FlushTableRequest& request, RequestContext context,
                TableAdmin::Done done) {
  std::vector<std::string> families(request.column_family().begin(), request.column_family().end());
  admin.FlushTable(table, std::move(families), std::move(context), std::move(done));
}

void CompactTable(TableAdmin& admin, const TableName& table, const ::ratchet::pb::CompactTableRequest& request,
                  RequestContext context, TableAdmin::Done done) {
  admin.CompactTable(table, request.major(), std::move(context), std::move(done));
}

void ModifyTracker(TableAdmin& admin, const TableName& table, const pb::ModifyTableStoreFileTrackerRequest& request,
                   RequestContext context, TableAdmin::Done done) {
  admin.ModifyTable(TrackerChange(table, std::nullopt, request.dst_sft()), true, std::move(context), std::move(done));
}

void ModifyFamilyTracker(TableAdmin& admin, const TableName& table,
                         const pb::ModifyColumnStoreFileTrackerRequest& request, RequestContext context,
                         TableAdmin::Done done) {
  admin.ModifyTable(TrackerChange(table, request.family(), request.dst_sft()), true, std::move(context),
                    std::move(done));
}

void TruncateTable(TableAdmin& admin, const TableName& table, const pb::TruncateTableRequest& request,
                   RequestContext context, TableAdmin::Done done) {
  admin.TruncateTable(table, request.preservesplits(), std::move(context), std::move(done));
}

// AddColumn, ModifyColumn: changes one family of the table in the request.
template <class Request>
Result<SchemaChange> ChangeOf(const Request& request, ChangeKind kind) {
  pb::TableSchema schema;
  *schema.mutable_table_name() = request.table_name();
  if constexpr (requires { request.column_families(); }) {
    *schema.add_column_families() = request.column_families();
  } else {
    schema.add_column_families()->set_name(request.column_name());
  }
  SchemaChange change;
  change.kind = kind;
  RATCHET_ASSIGN(change.asked, FromProto(schema));
  return change;
}

Result<SchemaChange> WholeChange(const pb::ModifyTableRequest& request) {
  SchemaChange change;
  RATCHET_ASSIGN(change.asked, FromProto(request.table_schema()));
  RATCHET_ASSIGN(const TableName table, FromProto(request.table_name()));
  if (change.asked.name != table) {
    return Error(Code::kInvalidArgument, fmt::format("the request names table {}, but its descriptor names {}",
                                                     table.ToString(), change.asked.name.ToString()));
  }
  return change;
}

template <class Request, class Response, class Change>
void AddChange(rpc::Service& service, const MasterGate& gate, const rpc::Method<Request, Response>& method,
               Change change_of) {
  AnswerLater(service, gate, Need::kReady, method,
              [change_of](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                          const rpc::Responder<Response>& responder) {
                auto change = change_of(request);
                if (!change.ok()) {
                  responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, change.error().message()));
                  return;
                }
                bool reopen = true;
                if constexpr (requires { request.reopen_regions(); }) reopen = request.reopen_regions();
                parts.logic->admin.ModifyTable(std::move(*change), reopen, ContextOf(call, request),
                                               AnswerPid(parts, responder));
              });
}

}  // namespace

void AddCompactTable(rpc::Service& service, ServiceEnv& env) {
  AddVerb(service, env.gate, methods::kCompactTable, CompactTable);
}

void AddTableMethods(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  AnswerLater(service, gate, Need::kReady, methods::kCreateTable, CreateTable);
  AddVerb(service, gate, methods::kEnableTable, Plain(&TableAdmin::EnableTable));
  AddVerb(service, gate, methods::kDisableTable, Plain(&TableAdmin::DisableTable));
  AddVerb(service, gate, methods::kDeleteTable, Plain(&TableAdmin::DeleteTable));
  AddVerb(service, gate, methods::kTruncateTable, TruncateTable);
  AddVerb(service, gate, methods::kFlushTable, FlushTable);
  AddVerb(service, gate, methods::kModifyTableStoreFileTracker, ModifyTracker);
  AddVerb(service, gate, methods::kModifyColumnStoreFileTracker, ModifyFamilyTracker);
  AddChange(service, gate, methods::kModifyTable, WholeChange);
  AddChange(service, gate, methods::kAddColumn,
            [](const auto& request) { return ChangeOf(request, ChangeKind::kAddFamily); });
  AddChange(service, gate, methods::kModifyColumn,
            [](const auto& request) { return ChangeOf(request, ChangeKind::kModifyFamily); });
  AddChange(service, gate, methods::kDeleteColumn,
            [](const auto& request) { return ChangeOf(request, ChangeKind::kDeleteFamily); });
}

}  // namespace ratchet::master
