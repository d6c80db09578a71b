// MasterService: creating, changing and deleting namespaces.
#include "common/model/namespace_descriptor.h"
#include "common/model/proto/namespace.pb.h"
#include "common/rpc/methods/master_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

void CreateIt(const ActiveParts& parts, const rpc::CallContext& call, const pb::CreateNamespaceRequest& request,
              const rpc::Responder<pb::CreateNamespaceResponse>& responder) {
  parts.logic->namespace_admin.Create(FromProto(request.namespacedescriptor()), ContextOf(call, request),
                                      AnswerPid(parts, responder));
}

void ModifyIt(const ActiveParts& parts, const rpc::CallContext& call, const pb::ModifyNamespaceRequest& request,
              const rpc::Responder<pb::ModifyNamespaceResponse>& responder) {
  parts.logic->namespace_admin.Modify(FromProto(request.namespacedescriptor()), ContextOf(call, request),
                                      AnswerPid(parts, responder));
}

void DeleteIt(const ActiveParts& parts, const rpc::CallContext& call, const pb::DeleteNamespaceRequest& request,
              const rpc::Responder<pb::DeleteNamespaceResponse>& responder) {
  parts.logic->namespace_admin.Delete(request.namespacename(), ContextOf(call, request), AnswerPid(parts, responder));
}

}  // namespace

void AddNamespaceMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kCreateNamespace, CreateIt);
  AnswerLater(service, env.gate, Need::kReady, methods::kModifyNamespace, ModifyIt);
  AnswerLater(service, env.gate, Need::kReady, methods::kDeleteNamespace, DeleteIt);
}

}  // namespace ratchet::master
