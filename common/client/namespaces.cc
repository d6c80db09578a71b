#include "common/client/namespaces.h"

#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::client {
namespace {

template <class Request, class Response>
Result<std::uint64_t> Submit(Connection& connection, Admin& admin, const rpc::Method<Request, Response>& method,
                             Request& request) {
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  RATCHET_ASSIGN(const auto response, (admin.Call(method, request)));
  return response.proc_id();
}

}  // namespace

Result<std::uint64_t> CreateNamespace(Connection& connection, Admin& admin, const NamespaceDescriptor& descriptor) {
  hbase::pb::CreateNamespaceRequest request;
  ToProto(descriptor, *request.mutable_namespacedescriptor());
  return Submit(connection, admin, methods::kCreateNamespace, request);
}

Result<std::uint64_t> ModifyNamespace(Connection& connection, Admin& admin, const NamespaceDescriptor& descriptor) {
  hbase::pb::ModifyNamespaceRequest request;
  ToProto(descriptor, *request.mutable_namespacedescriptor());
  return Submit(connection, admin, methods::kModifyNamespace, request);
}

Result<std::uint64_t> DeleteNamespace(Connection& connection, Admin& admin, const std::string& name) {
  hbase::pb::DeleteNamespaceRequest request;
  request.set_namespacename(name);
  return Submit(connection, admin, methods::kDeleteNamespace, request);
}

Result<NamespaceDescriptor> DescribeNamespace(Admin& admin, const std::string& name) {
  hbase::pb::GetNamespaceDescriptorRequest request;
  request.set_namespacename(name);
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kGetNamespaceDescriptor, request)));
  return FromProto(response.namespacedescriptor());
}

Result<std::vector<NamespaceDescriptor>> ListNamespaces(Admin& admin) {
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kListNamespaceDescriptors, {})));
  std::vector<NamespaceDescriptor> all;
  for (const auto& each : response.namespacedescriptor()) all.push_back(FromProto(each));
  return all;
}

}  // namespace ratchet::client
