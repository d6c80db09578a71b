#include "common/rpc/server_probe.h"

#include <utility>

#include "common/model/codec.h"
#include "common/rpc/methods/admin_service.h"

namespace ratchet::rpc {

ProbeFinding ProbeServer(ChannelPool& channels, const ServerName& server, Millis patience) {
  const ConnectOutcome outcome = TryConnect(server.host, server.port, patience);
  if (outcome == ConnectOutcome::kRefused) return ProbeFinding::kRefused;
  if (outcome == ConnectOutcome::kUnclear) return ProbeFinding::kUnclear;
  CallOptions options;
  options.timeout = patience;
  const auto reply = channels.CallSync(methods::kGetServerInfo, {server.host, server.port}, {}, std::move(options));
  if (!reply.ok()) return ProbeFinding::kUnclear;
  const auto name = FromProto(reply->message.server_info().server_name());
  if (!name.ok()) return ProbeFinding::kUnclear;
  if (*name == server) return ProbeFinding::kSame;
  const bool younger = name->host == server.host && name->port == server.port && name->start_code > server.start_code;
  return younger ? ProbeFinding::kYounger : ProbeFinding::kUnclear;
}

}  // namespace ratchet::rpc
