// HBase's AdminService, at a master in each role: its clients send the same requests to masters and region servers, so
// that a reload request of its shell reaches every server.
#include "common/rpc/methods/admin_service.h"
#include "common/model/codec.h"
#include "common/rpc/connection_methods.h"
#include "common/rpc/exceptions.h"
#include "master/rpc/master_services.h"

namespace ratchet::master {

std::shared_ptr<rpc::Service> MakeMasterAdminService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kAdminService);
  // By this name other processes find out whether this one is alive (common/rpc/server_probe.h).
  service->On(methods::kGetServerInfo,
              [&env](const rpc::CallContext&, const hbase::pb::GetServerInfoRequest&, std::string_view,
                     const rpc::Responder<hbase::pb::GetServerInfoResponse>& responder) {
                hbase::pb::GetServerInfoResponse response;
                ToProto(env.gate.self(), *response.mutable_server_info()->mutable_server_name());
                responder.Reply(response);
              },
              {rpc::QueueClass::kTransition});
  rpc::AddConnectionMethods(*service, [&env] { return env.rpc_server ? env.rpc_server() : nullptr; });
  if (!env.reload) return service;
  service->On(methods::kUpdateConfiguration,
              [&env](const rpc::CallContext&, const hbase::pb::UpdateConfigurationRequest&, std::string_view,
                     const rpc::Responder<hbase::pb::UpdateConfigurationResponse>& responder) {
                const Status reloaded = env.reload();
                if (reloaded.ok()) {
                  responder.Reply(hbase::pb::UpdateConfigurationResponse());
                } else {
                  responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, reloaded.error().message()));
                }
              },
              {rpc::QueueClass::kAdmin});
  return service;
}

}  // namespace ratchet::master
