#include "common/client/namespaces.h"

#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::client {

Result<std::uint64_t> CreateNamespace(Admin& admin, const NamespaceDescriptor& descriptor) {
  hbase::pb::CreateNamespaceRequest request;
  ToProto(descriptor, *request.mutable_namespacedescriptor());
  return admin.Submit(methods::kCreateNamespace, request);
}

Result<std::uint64_t> ModifyNamespace(Admin& admin, const NamespaceDescriptor& descriptor) {
  hbase::pb::ModifyNamespaceRequest request;
  ToProto(descriptor, *request.mutable_namespacedescriptor());
  return admin.Submit(methods::kModifyNamespace, request);
}

Result<std::uint64_t> DeleteNamespace(Admin& admin, const std::string& name) {
  hbase::pb::DeleteNamespaceRequest request;
  request.set_namespacename(name);
  return admin.Submit(methods::kDeleteNamespace, request);
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
