#include "common/client/drain.h"

#include "common/model/codec.h"
#include "common/rpc/methods/decommission.h"

namespace ratchet::client {

Result<std::uint64_t> Drain(Connection& connection, Admin& admin, const ServerName& server, bool and_stop) {
  pb::DrainRequest request;
  ToProto(server, *request.mutable_server());
  request.set_and_stop(and_stop);
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kDrain, request)));
  return response.pid();
}

Result<std::uint64_t> Undrain(Connection& connection, Admin& admin, const ServerName& server,
                              const std::vector<std::string>& encoded_regions) {
  pb::UndrainRequest request;
  ToProto(server, *request.mutable_server());
  for (const std::string& region : encoded_regions) request.add_encoded_name(region);
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kUndrain, request)));
  return response.pid();
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
