// How this master listens for requests: the settings of the RPC server. listen_options.h adds what exists only while
// the process runs.
#pragma once

#include <cstddef>

#include "common/base/config.h"
#include "common/rpc/server_options.h"

namespace ratchet::master {

struct RpcOptions : rpc::ServerOptions {
  RpcOptions();

  // This object must outlive the parsing.
  void Bind(Settings& settings);

 private:
  [[nodiscard]] rpc::QueueOptions& queue(rpc::QueueClass of) { return queues[static_cast<std::size_t>(of)]; }
};

}  // namespace ratchet::master
