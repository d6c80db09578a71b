#include "master/process/send_stop.h"

#include "common/base/log.h"
#include "common/model/proto/admin.pb.h"
#include "common/rpc/methods/admin_service.h"

namespace ratchet::master {

void SendStopRequests(rpc::ChannelPool& channels, const std::vector<ServerName>& servers, const std::string& why) {
  hbase::pb::StopServerRequest request;
  request.set_reason(why);
  for (const ServerName& target : servers) {
    channels.Call(methods::kStopServer, {target.host, target.port}, request, {}, [target](const auto& reply) {
      if (!reply.ok())
        RATCHET_LOG(kWarn, "Cannot send the stop request to {}: {}", target.ToString(), reply.error().ToString());
    });
  }
}

}  // namespace ratchet::master
