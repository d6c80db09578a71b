// Calls the active master, whichever it is at the time: retries through elections, activations and lost connections.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/client/master_finder.h"
#include "common/client/retry_loop.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::client {

// Thread-safe. The request must be harmless to repeat (a nonce, a query, or an idempotent verb).
class MasterCaller {
 public:
  MasterCaller(rpc::ChannelPool& pool, MasterFinder& finder, Millis rpc_timeout)
      : pool_(pool), finder_(finder), rpc_timeout_(rpc_timeout) {}

  template <class Request, class Response>
  [[nodiscard]] Result<Response> Call(RetryLoop& loop, const rpc::Method<Request, Response>& method,
                                      const std::type_identity_t<Request>& request) {
    auto response = std::make_shared<Response>();
    RATCHET_TRY(CallRaw(loop, method.service, method.name, method.effect, request, response));
    return std::move(*response);
  }

 private:
  [[nodiscard]] Status CallRaw(RetryLoop& loop, std::string_view service, std::string_view method, Effect effect,
                               const google::protobuf::MessageLite& request,
                               const std::shared_ptr<google::protobuf::MessageLite>& response);

  rpc::ChannelPool& pool_;
  MasterFinder& finder_;
  const Millis rpc_timeout_;
};

}  // namespace ratchet::client
