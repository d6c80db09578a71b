// The processes of the cluster, asked one by one: what each knows only itself.
#pragma once

#include <string>
#include <utility>

#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {

[[nodiscard]] inline rpc::Endpoint EndpointOf(const hbase::pb::ServerName& name) {
  return {name.host_name(), static_cast<std::uint16_t>(name.port())};
}
[[nodiscard]] inline std::string MasterText(const hbase::pb::ServerName& name) { return "master " + NameText(name); }
[[nodiscard]] inline std::string RegionServerText(const hbase::pb::ServerName& name) {
  return "region server " + NameText(name);
}

template <class Request, class Response>
Result<Response> AskProcess(Session& session, const rpc::Endpoint& process,
                            const rpc::Method<Request, Response>& method, const Request& request, Millis patience) {
  rpc::CallOptions options;
  options.timeout = patience;
  auto reply = session.connection.pool().CallSync(method, process, request, std::move(options));
  if (!reply.ok()) return reply.error();
  return std::move(reply->message);
}

}  // namespace ratchet::cli
