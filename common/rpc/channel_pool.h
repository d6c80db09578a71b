// All client connections of a process: one channel per (service, host, port), on a few shared I/O threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/rpc/channel.h"

namespace ratchet::rpc {

// What a test may do to a message on its way. Asked on the I/O thread for every request that is about to be written and
// every answer that has been read.
struct TransportEvent {
  bool is_request = true;
  const Endpoint& endpoint;
  std::string_view service;
  std::string_view method;
};
struct TransportAction {
  bool drop = false;  // the message vanishes: the call ends by its deadline
  Millis delay{0};
};
using TransportHook = std::function<TransportAction(const TransportEvent&)>;

struct ChannelPoolOptions {
  std::string name = "rpc-client";  // prefix of thread names
  std::string user = "ratchet";     // effective user in the connection header
  std::string cluster_key{};        // shown to servers: of the cluster's own processes; empty: a client (S77)
  int io_threads = 1;               // at least 1
  bool cell_blocks = true;          // name KeyValueCodec in the connection header
  Millis connect_timeout{5'000};
  Millis reconnect_base{20};  // pause after a failed connect, doubling; calls made during it fail at once (kNotSent)
  Millis reconnect_cap{1'000};
  Millis silence_timeout{10'000};  // calls wait, nothing arrives for so long and one times out: reconnect
  std::size_t max_frame_bytes = 256u << 20;
  std::size_t max_unsent_bytes = 256u << 20;  // queued requests of one channel; one more fails with kResourceExhausted
  TransportHook hook{};                       // empty in production
};

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
