#include "master/rpc/targets.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
namespace rpb = ::ratchet::pb;
using rights::Action;
using rights::Actions;
using rights::Demand;
using rights::Demands;
using rights::Scope;
using rights::Target;
using Targets = std::vector<Target>;

constexpr Actions kReadOrAdmin = Action::kRead | Action::kAdmin;

Error Refuse(const Error& error) { return rpc::RemoteError(rpc::exception::kDoNotRetryIo, error.message()); }

Result<TableName> NameOf(const pb::TableName& name) {
  auto table = FromProto(name);
  if (!table.ok()) return Refuse(table.error());
  return table;
}

template <class Request>
Result<TableName> TableOfRequest(const Request& request) {
  if constexpr (requires { request.tablename(); }) {
    return NameOf(request.tablename());
  } else if constexpr (requires {
                         request.table_schema();
                         request.split_keys();
                       }) {
    return NameOf(request.table_schema().table_name());
  } else {
    return NameOf(request.table_name());
  }
}

// The request's table, whether it exists or not.
template <class Request, class Response>
void OfTable(rpc::Service& service, const rpc::Method<Request, Response>& method) {
  service.TargetOf(method, [](const rpc::CallContext& /*call*/, const Request& request) -> Result<Target> {
    RATCHET_ASSIGN(TableName table, TableOfRequest(request));
    return Target{Scope::Table(std::move(table))};
  });
}

// Only superusers change the tables of the system, and lock them.
Demand DemandOf(Scope scope, Actions any_of) {
  const bool of_system = scope.level >= Scope::Level::kNamespace && scope.table.ns == kSystemNamespace;
  return of_system ? Demand::Superuser() : Demand::Of(std::move(scope), any_of);
}

// For changes of the table itself.
template <class Request, class Response>
void OfChangedTable(rpc::Service& service, const rpc::Method<Request, Response>& method) {
  service.DemandsOf(method,
                    [need = method.need](const rpc::CallContext& /*call*/, const Request& request) -> Result<Demands> {
                      RATCHET_ASSIGN(TableName table, TableOfRequest(request));
                      if constexpr (requires { request.family(); }) {
                        return Demands{DemandOf(Scope::Family(std::move(table), request.family()), need.any_of())};
                      } else {
                        return Demands{DemandOf(Scope::Table(std::move(table)), need.any_of())};
                      }
                    });
}

// The table of a region that is not known here is the one in its name; without a name, the right is needed everywhere.
Scope ScopeOfRegion(const ActiveParts& parts, std::string_view encoded, std::string_view name) {
  if (const auto node = parts.logic->regions.Get(encoded)) return Scope::Table(node->info.table);
  const std::size_t comma = name.find(',');
  if (comma == std::string_view::npos) return Scope::Global();
  auto table = TableName::Parse(name.substr(0, comma));
  return table.ok() ? Scope::Table(std::move(*table)) : Scope::Global();
}

Result<Target> TargetOfRegion(const ActiveParts& parts, const pb::RegionSpecifier& region) {
  const auto encoded = EncodedNameOf(region);
  if (!encoded.ok()) return rpc::RemoteError(rpc::exception::kUnknownRegion, encoded.error().message());
  const bool named = region.type() == pb::RegionSpecifier::REGION_NAME;
  return Target{ScopeOfRegion(parts, *encoded, named ? std::string_view(region.value()) : std::string_view())};
}

Result<Target> TargetOfRegion(const ActiveParts& parts, const pb::RegionInfo& info) {
  const auto region = FromProto(info);
  if (!region.ok()) return Refuse(region.error());
  return Target{ScopeOfRegion(parts, region->encoded_name(), region->name())};
}

// `field`: (const Request&) -> the region of the request.
template <class Request, class Response, class Field>
void OfRegion(rpc::Service& service, const MasterGate& gate, const rpc::Method<Request, Response>& method,
              Field field) {
  service.TargetOf(method, [&gate, field](const rpc::CallContext& /*call*/, const Request& request) -> Result<Target> {
    RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
    return TargetOfRegion(parts, field(request));
  });
}

// For changes of the region itself.
template <class Request, class Response>
void OfChangedRegion(rpc::Service& service, const MasterGate& gate, const rpc::Method<Request, Response>& method) {
  service.DemandsOf(
      method, [&gate, need = method.need](const rpc::CallContext& /*call*/, const Request& request) -> Result<Demands> {
        RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
        RATCHET_ASSIGN(Target target, TargetOfRegion(parts, request.region_info()));
        return Demands{DemandOf(std::move(target.scope), need.any_of())};
      });
}

void OfMergedRegions(rpc::Service& service, const MasterGate& gate) {
  service.DemandsOf(
      methods::kMergeTableRegions,
      [&gate](const rpc::CallContext& /*call*/, const pb::MergeTableRegionsRequest& request) -> Result<Demands> {
        RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
        Demands demands;
        for (const pb::RegionSpecifier& region : request.region()) {
          RATCHET_ASSIGN(Target target, TargetOfRegion(parts, region));
          demands.push_back(DemandOf(std::move(target.scope), Action::kAdmin));
        }
        if (demands.empty()) demands.push_back(Demand::Of(Scope::Global(), Action::kAdmin));
        return demands;
      });
}

void OfDescribedTables(rpc::Service& service) {
  service.DemandsOf(
      methods::kGetTableDescriptors,
      [](const rpc::CallContext& /*call*/, const pb::GetTableDescriptorsRequest& request) -> Result<Demands> {
        Demands demands;  // none: the list is filtered
        for (const pb::TableName& name : request.table_names()) {
          RATCHET_ASSIGN(TableName table, NameOf(name));
          demands.push_back(Demand::Of(Scope::Table(std::move(table)), kAdminOrCreate));
        }
        return demands;
      });
}

// A quota of a table, or of a user in it, belongs to the table; every other quota to the cluster.
void OfQuota(rpc::Service& service) {
  service.DemandsOf(methods::kSetQuota,
                    [](const rpc::CallContext& /*call*/, const pb::SetQuotaRequest& request) -> Result<Demands> {
                      if (!request.has_user_name() || !request.has_table_name())
                        return Demands{Demand::Of(Scope::Global(), Action::kAdmin)};
                      RATCHET_ASSIGN(TableName table, NameOf(request.table_name()));
                      return Demands{Demand::Of(Scope::Table(std::move(table)), Action::kAdmin)};
                    });
}

// Procedures that clients name by a signature ask for what the methods of the same work ask for.
void OfNamedProcedures(rpc::Service& service) {
  const auto table_of = [](const pb::ProcedureDescription& asked) {
    if (asked.signature() == "flush-table-proc") return TableName::Parse(asked.instance());
    for (const pb::NameStringPair& pair : asked.configuration()) {
      if (pair.name() == "table") return TableName::Parse(pair.value());
    }
    return Result<TableName>(Error(Code::kInvalidArgument, "no table"));
  };
  service.DemandsOf(
      methods::kExecProcedure,
      [table_of](const rpc::CallContext& /*call*/, const pb::ExecProcedureRequest& request) -> Result<Demands> {
        const pb::ProcedureDescription& asked = request.procedure();
        const bool flushes = asked.signature() == "flush-table-proc";
        auto table = table_of(asked);
        if (!table.ok() || (!flushes && asked.signature() != "online-snapshot"))
          return Demands{Demand::Of(Scope::Global(), Action::kAdmin)};
        return Demands{Demand::Of(Scope::Table(std::move(*table)), flushes ? kAdminOrCreate : Actions(Action::kAdmin))};
      });
  service.DemandsOf(
      methods::kIsProcedureDone,
      [table_of](const rpc::CallContext& /*call*/, const pb::IsProcedureDoneRequest& request) -> Result<Demands> {
        auto table = table_of(request.procedure());
        if (!table.ok()) return Demands{Demand::Of(Scope::Global(), Action::kAdmin)};
        return Demands{Demand::Some(Scope::Table(std::move(*table)))};
      });
}

// A new table belongs to its namespace. The owner that its descriptor names gets every right in it, so another owner
// than the caller needs what a grant needs, S167 (naming an owner is a grant).
Result<Demands> DemandsOfNewTable(const rights::Judge* judge, const rpc::CallContext& call,
                                  const pb::CreateTableRequest& request) {
  RATCHET_ASSIGN(const TableName table, NameOf(request.table_schema().table_name()));
  const Scope around = Scope::Namespace(table.ns);
  Demands demands{DemandOf(around, kAdminOrCreate)};
  const auto descriptor = FromProto(request.table_schema());
  const std::string owner = descriptor.ok() ? descriptor->owner() : std::string();
  if (owner.empty() || owner == call.user || RATCHET_MUTANT("rights.any_owner")) return demands;
  const bool of_superuser = judge != nullptr && judge->IsSuperuser(owner);
  demands.push_back(of_superuser ? Demand::Superuser() : Demand::Of(around, Action::kAdmin));
  return demands;
}

// The procedure's owner; of a procedure that is not known, no user.
Result<Target> TargetOfProcedure(const MasterGate& gate, std::uint64_t pid) {
  RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
  const auto info = parts.executor->Get(ProcId(pid));
  return Target{Scope::Global(), info.has_value() ? info->owner : std::string()};
}

// A question about a table, or about a procedure of the caller. A refusal has the same text whether the subject exists
// or not.
Result<Demands> DemandsOfWhy(const ServiceEnv& env, const rpc::CallContext& call, const rpb::WhyRequest& request) {
  const MasterGate& gate = env.gate;
  Demand demand = Demand::Of(Scope::Global(), kReadOrAdmin);
  const std::string& subject = request.subject();
  std::uint64_t pid = 0;
  const auto [end, error] = std::from_chars(subject.data(), subject.data() + subject.size(), pid);
  if (error == std::errc() && end == subject.data() + subject.size() && gate.Admit(Need::kRecovered).ok()) {
    RATCHET_ASSIGN(Target target, TargetOfProcedure(gate, pid));
    demand.owner = std::move(target.owner);
    return Demands{std::move(demand)};
  }
  const auto parts = gate.Admit(Need::kRecovered);
  auto table = TableName::Parse(subject);
  const bool is_table = parts.ok() && table.ok() && parts->logic->tables.Get(*table).has_value();
  if (is_table && env.judge != nullptr &&
      env.judge->Verdict(CallerOf(call), Demand::Some(Scope::Table(std::move(*table)))).ok())
    return Demands();
  return Demands{std::move(demand)};
}

}  // namespace

bool SeesTable(const ServiceEnv& env, const rpc::CallContext& call, const TableName& table) {
  return Sees(env, call, Demand::Some(Scope::Table(table)));
}

bool SeesDescriptor(const ServiceEnv& env, const rpc::CallContext& call, const TableName& table) {
  return Sees(env, call, Demand::Of(Scope::Table(table), kAdminOrCreate));
}

bool SeesAll(const ServiceEnv& env, const rpc::CallContext& call) {
  return env.judge == nullptr || !env.judge->enforces() || env.judge->IsAbove(CallerOf(call));
}

void AddMasterTargets(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  service.DemandsOf(methods::kCreateTable,
                    [judge = env.judge](const rpc::CallContext& call, const pb::CreateTableRequest& request) {
                      return DemandsOfNewTable(judge, call, request);
                    });
  OfChangedTable(service, methods::kEnableTable);
  OfChangedTable(service, methods::kDisableTable);
  OfChangedTable(service, methods::kDeleteTable);
  OfChangedTable(service, methods::kTruncateTable);
  OfChangedTable(service, methods::kModifyTable);
  OfChangedTable(service, methods::kAddColumn);
  OfChangedTable(service, methods::kModifyColumn);
  OfChangedTable(service, methods::kDeleteColumn);
  OfChangedTable(service, methods::kModifyTableStoreFileTracker);
  OfChangedTable(service, methods::kModifyColumnStoreFileTracker);
  OfTable(service, methods::kFlushTable);
  OfTable(service, methods::kGetSchemaAlterStatus);
  OfTable(service, methods::kLastMajorCompaction);
  const auto specified = [](const auto& request) -> const pb::RegionSpecifier& { return request.region(); };
  OfRegion(service, gate, methods::kLastMajorCompactionOfRegion, specified);
  OfRegion(service, gate, methods::kMoveRegion, specified);
  OfRegion(service, gate, methods::kAssignRegion, specified);
  OfRegion(service, gate, methods::kUnassignRegion, specified);
  OfChangedRegion(service, gate, methods::kSplitRegion);
  OfChangedRegion(service, gate, methods::kTruncateRegion);
  OfMergedRegions(service, gate);
  OfDescribedTables(service);
  OfQuota(service);
  OfNamedProcedures(service);
  service.TargetOf(methods::kGetNamespaceDescriptor,
                   [](const rpc::CallContext& /*call*/, const pb::GetNamespaceDescriptorRequest& request) {
                     return Target{Scope::Namespace(request.namespacename())};
                   });
  service.TargetOf(methods::kSnapshot,
                   [](const rpc::CallContext& /*call*/, const pb::SnapshotRequest& request) -> Result<Target> {
                     auto table = TableName::Parse(request.snapshot().table());
                     if (!table.ok()) return Refuse(table.error());
                     return Target{Scope::Table(std::move(*table))};
                   });
}

void AddLockTargets(rpc::Service& service, ServiceEnv& env) {
  service.DemandsOf(
      methods::kRequestLock,
      [&gate = env.gate](const rpc::CallContext& /*call*/, const pb::LockRequest& request) -> Result<Demands> {
        RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
        Demands demands;
        const auto add = [&demands](Scope scope) { demands.push_back(DemandOf(std::move(scope), kAdminOrCreate)); };
        if (request.has_namespace_()) add(Scope::Namespace(request.namespace_()));
        if (request.has_table_name()) {
          RATCHET_ASSIGN(TableName table, NameOf(request.table_name()));
          add(Scope::Table(std::move(table)));
        }
        for (const pb::RegionInfo& region : request.region_info()) {
          RATCHET_ASSIGN(Target target, TargetOfRegion(parts, region));
          add(std::move(target.scope));
        }
        if (demands.empty()) demands.push_back(Demand::Of(Scope::Global(), kAdminOrCreate));
        return demands;
      });
  service.TargetOf(methods::kLockHeartbeat,
                   [&gate = env.gate](const rpc::CallContext& /*call*/, const pb::LockHeartbeatRequest& request) {
                     return TargetOfProcedure(gate, request.proc_id());
                   });
}

void AddRatchetTargets(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  OfTable(service, methods::kCompactTable);
  service.TargetOf(methods::kGetProcedure,
                   [&gate](const rpc::CallContext& /*call*/, const rpb::GetProcedureRequest& request) {
                     return TargetOfProcedure(gate, request.pid());
                   });
  service.TargetOf(
      methods::kTransitRegion,
      [&gate](const rpc::CallContext& /*call*/, const rpb::TransitRegionRequest& request) -> Result<Target> {
        RATCHET_ASSIGN(const ActiveParts parts, gate.Admit(Need::kRecovered));
        const auto node = parts.logic->regions.Find(request.encoded_name());
        return Target{node.has_value() ? Scope::Table(node->info.table)
                                       : ScopeOfRegion(parts, {}, request.encoded_name())};
      });
  service.DemandsOf(methods::kListRegions,
                    [](const rpc::CallContext& /*call*/, const rpb::ListRegionsRequest& request) -> Result<Demands> {
                      if (!request.has_table()) return Demands{Demand::Of(Scope::Global(), kReadOrAdmin)};
                      RATCHET_ASSIGN(TableName table, NameOf(request.table()));
                      return Demands{Demand::Some(Scope::Table(std::move(table)))};
                    });
  service.DemandsOf(methods::kWhy, [&env](const rpc::CallContext& call, const rpb::WhyRequest& request) {
    return DemandsOfWhy(env, call, request);
  });
}

}  // namespace ratchet::master
