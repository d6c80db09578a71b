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

Result<pb::ListNamespaceDescriptorsResponse> Descriptors(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::ListNamespaceDescriptorsRequest& /*request*/) {
  pb::ListNamespaceDescriptorsResponse response;
  for (const auto& [name, descriptor] : NamespacesOf(parts)) ToProto(descriptor, *response.add_namespacedescriptor());
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

Result<pb::ListTableNamesByNamespaceResponse> TableNames(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::ListTableNamesByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableNamesByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (table.name.ns == request.namespacename()) ToProto(table.name, *response.add_tablename());
  }
  return response;
}

Result<pb::ListTableDescriptorsByNamespaceResponse> TableDescriptors(
    const ActiveParts& parts, const rpc::CallContext& /*call*/,
    const pb::ListTableDescriptorsByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableDescriptorsByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (table.name.ns != request.namespacename() || table.schema == nullptr) continue;
    ToProto(*table.schema, *response.add_tableschema());
  }
  return response;
}

}  // namespace

void AddNamespaceViews(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  Answer(service, gate, Need::kReady, methods::kListNamespaces, Names);
  Answer(service, gate, Need::kReady, methods::kListNamespaceDescriptors, Descriptors);
  Answer(service, gate, Need::kReady, methods::kGetNamespaceDescriptor, Descriptor);
  Answer(service, gate, Need::kReady, methods::kListTableNamesByNamespace, TableNames);
  Answer(service, gate, Need::kReady, methods::kListTableDescriptorsByNamespace, TableDescriptors);
}

}  // namespace ratchet::master
