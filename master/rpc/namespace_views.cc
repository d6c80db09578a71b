// MasterService: lists of namespaces and of their tables.
#include <map>
#include <string>

#include "common/model/codec.h"
#include "common/model/namespace_descriptor.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// Returns the namespaces by name; those that exist only because of a table have no properties.
std::map<std::string, NamespaceDescriptor> NamespacesOf(const ActiveParts& parts) {
  std::map<std::string, NamespaceDescriptor> all;
  for (NamespaceDescriptor& each : parts.logic->namespaces.List()) all.emplace(each.name, std::move(each));
  for (const TableNode& table : parts.logic->tables.List())
    all.try_emplace(table.name.ns, NamespaceDescriptor{table.name.ns, {}});
  return all;
}

Status RequireNamespace(const ActiveParts& parts, const std::string& name) {
  return parts.logic->env.namespaces.Exists(name) ? Ok() : Status(NamespaceNotFound(name));
}

Result<pb::ListNamespacesResponse> Names(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                         const pb::ListNamespacesRequest& /*request*/) {
  pb::ListNamespacesResponse response;
  for (const auto& [name, descriptor] : NamespacesOf(parts)) response.add_namespacename(name);
  return response;
}

Result<pb::ListNamespaceDescriptorsResponse> Descriptors(const ServiceEnv& env, const ActiveParts& parts,
                                                         const rpc::CallContext& call,
                                                         const pb::ListNamespaceDescriptorsRequest& /*request*/) {
  pb::ListNamespaceDescriptorsResponse response;
  for (const auto& [name, descriptor] : NamespacesOf(parts)) {
    if (Sees(env, call, rights::Demand::Of(rights::Scope::Namespace(name), rights::Action::kAdmin)))
      ToProto(descriptor, *response.add_namespacedescriptor());
  }
  return response;
}

Result<pb::GetNamespaceDescriptorResponse> Descriptor(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                      const pb::GetNamespaceDescriptorRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::GetNamespaceDescriptorResponse response;
  const auto known = parts.logic->namespaces.Get(request.namespacename());
  ToProto(known.value_or(NamespaceDescriptor{request.namespacename(), {}}), *response.mutable_namespacedescriptor());
  return response;
}

Result<pb::ListTableNamesByNamespaceResponse> TableNames(const ServiceEnv& env, const ActiveParts& parts,
                                                         const rpc::CallContext& call,
                                                         const pb::ListTableNamesByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableNamesByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (table.name.ns == request.namespacename() && SeesTable(env, call, table.name))
      ToProto(table.name, *response.add_tablename());
  }
  return response;
}

Result<pb::ListTableDescriptorsByNamespaceResponse> TableDescriptors(
    const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
    const pb::ListTableDescriptorsByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableDescriptorsByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (table.name.ns != request.namespacename() || table.schema == nullptr) continue;
    if (SeesDescriptor(env, call, table.name)) ToProto(*table.schema, *response.add_tableschema());
  }
  return response;
}

// Registers a list that leaves out what its caller may not see.
template <class Request, class Response>
void AddFiltered(rpc::Service& service, ServiceEnv& env, const rpc::Method<Request, Response>& method,
                 Result<Response> (*list)(const ServiceEnv&, const ActiveParts&, const rpc::CallContext&,
                                          const Request&)) {
  Answer(service, env.gate, Need::kReady, method,
         [&env, list](const ActiveParts& parts, const rpc::CallContext& call, const Request& request) {
           return list(env, parts, call, request);
         });
}

}  // namespace

void AddNamespaceViews(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  Answer(service, gate, Need::kReady, methods::kListNamespaces, Names);
  AddFiltered(service, env, methods::kListNamespaceDescriptors, &Descriptors);
  Answer(service, gate, Need::kReady, methods::kGetNamespaceDescriptor, Descriptor);
  AddFiltered(service, env, methods::kListTableNamesByNamespace, &TableNames);
  AddFiltered(service, env, methods::kListTableDescriptorsByNamespace, &TableDescriptors);
}

}  // namespace ratchet::master
