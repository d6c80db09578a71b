// All client connections of a process: one channel per (service, host, port), on a few shared I/O threads.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/rpc/channel.h"
#include "common/rpc/channel_options.h"

namespace ratchet::rpc {

// Thread-safe.
class ChannelPool {
 public:
  explicit ChannelPool(ChannelPoolOptions options);
  ~ChannelPool();  // Stop()
  ChannelPool(const ChannelPool&) = delete;
  ChannelPool& operator=(const ChannelPool&) = delete;

  // The channel for this service at this server; connects at its first call. Never null; after Stop its calls fail.
  [[nodiscard]] std::shared_ptr<Channel> Get(std::string_view service, const Endpoint& endpoint);
  // Channel::Call and CallSync at this server, on the channel of the method's service.
  template <class Request, class Response>
  void Call(const Method<Request, Response>& method, const Endpoint& endpoint,
            const std::type_identity_t<Request>& request, CallOptions options,
            std::type_identity_t<std::function<void(Result<Reply<Response>>)>> done) {
    Get(method.service, endpoint)->Call(method, request, std::move(options), std::move(done));
  }
  template <class Request, class Response>
  [[nodiscard]] Result<Reply<Response>> CallSync(const Method<Request, Response>& method, const Endpoint& endpoint,
                                                 const std::type_identity_t<Request>& request,
                                                 CallOptions options = {}) {
    return Get(method.service, endpoint)->CallSync(method, request, std::move(options));
  }
  // Closes and forgets all channels to a server that is known to be gone; their calls fail with kConnectionLost.
  void Forget(const Endpoint& endpoint);
  // Stops every channel and waits. Not from a callback.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::rpc
