#include "common/client/drain.h"

#include "common/model/codec.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::client {

Result<std::uint64_t> Drain(Admin& admin, const ServerName& server, bool and_stop) {
  pb::DrainRequest request;
  ToProto(server, *request.mutable_server());
  request.set_and_stop(and_stop);
  return admin.Submit(methods::kDrain, request);
}

Result<std::uint64_t> Undrain(Admin& admin, const ServerName& server, const std::vector<std::string>& encoded_regions) {
  pb::UndrainRequest request;
  ToProto(server, *request.mutable_server());
  for (const std::string& region : encoded_regions) request.add_encoded_name(region);
  return admin.Submit(methods::kUndrain, request);
}

Result<std::vector<ServerName>> Drained(Admin& admin) {
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kListDecommissionedRegionServers, {})));
  std::vector<ServerName> servers;
  for (const auto& each : response.server_name()) {
    RATCHET_ASSIGN(ServerName server, FromProto(each));
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace ratchet::client
