// HBase's AdminService, at a master: its clients ask a master for the same as a region server, so that its shell's
// request to reload reaches every server. In each role.
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/exceptions.h"
#include "master/service/master_services.h"

namespace ratchet::master {

std::shared_ptr<rpc::Service> MakeMasterAdminService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kAdminService);
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
