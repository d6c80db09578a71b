// How this server listens for requests: the settings of the RPC server. The process adds what exists only while it runs
// (its identity, the judge, the callbacks).
#pragma once

#include "common/base/config.h"
#include "common/rpc/server_options.h"

namespace ratchet::regionserver {

struct RpcOptions : rpc::ServerOptions {
  RpcOptions();

  // This object must outlive the parsing.
  void Bind(Settings& settings);

 private:
  [[nodiscard]] rpc::QueueOptions& queue(rpc::QueueClass of) { return queues[static_cast<std::size_t>(of)]; }
};

}  // namespace ratchet::regionserver
