// MasterService: the namespaces, as far as tables make them.
#include <set>
#include <string>

#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/namespace.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/control/master_logic.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// A namespace exists as soon as a table is made in it, and goes with its last one; two are always there.
std::set<std::string> NamespacesOf(const ActiveParts& parts) {
  std::set<std::string> names{std::string(kDefaultNamespace), std::string(kSystemNamespace)};
  for (const TableNode& table : parts.logic->tables().List()) names.insert(table.name.ns);
  return names;
}

Status RequireNamespace(const ActiveParts& parts, const std::string& name) {
  if (NamespacesOf(parts).contains(name)) return Ok();
  return rpc::RemoteError(rpc::exception::kNamespaceNotFound, fmt::format("namespace {} does not exist", name));
}

Result<pb::ListNamespacesResponse> Names(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                         const pb::ListNamespacesRequest& /*request*/) {
  pb::ListNamespacesResponse response;
  for (const std::string& name : NamespacesOf(parts)) response.add_namespacename(name);
  return response;
}

Result<pb::ListNamespaceDescriptorsResponse> Descriptors(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::ListNamespaceDescriptorsRequest& /*request*/) {
  pb::ListNamespaceDescriptorsResponse response;
  for (const std::string& name : NamespacesOf(parts)) response.add_namespacedescriptor()->set_name(name);
  return response;
}

Result<pb::GetNamespaceDescriptorResponse> Descriptor(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                      const pb::GetNamespaceDescriptorRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::GetNamespaceDescriptorResponse response;
  response.mutable_namespacedescriptor()->set_name(request.namespacename());
  return response;
}

Result<pb::ListTableNamesByNamespaceResponse> TableNames(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::ListTableNamesByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableNamesByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables().List()) {
    if (table.name.ns == request.namespacename()) ToProto(table.name, *response.add_tablename());
  }
  return response;
}

Result<pb::ListTableDescriptorsByNamespaceResponse> TableDescriptors(
    const ActiveParts& parts, const rpc::CallContext& /*call*/,
    const pb::ListTableDescriptorsByNamespaceRequest& request) {
  RATCHET_TRY(RequireNamespace(parts, request.namespacename()));
  pb::ListTableDescriptorsByNamespaceResponse response;
  for (const TableNode& table : parts.logic->tables().List()) {
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
