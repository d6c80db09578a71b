// How a process's client connections behave, and what a test may do to their messages.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

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

}  // namespace ratchet::rpc
