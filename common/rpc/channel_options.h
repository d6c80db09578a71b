// Settings of a process's client connections, and the changes that a test may make to their messages.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/channel.h"

namespace ratchet::tls {
class ProcessTls;  // common/tls/process_tls.h
}  // namespace ratchet::tls

namespace ratchet::rpc {

class MemberIdentity;  // member_identity.h

// A test's change to one message. Requested on the I/O thread for every request that is about to be written and every
// answer that has been read.
struct TransportEvent {
  bool is_request = true;
  const Endpoint& endpoint;
  std::string_view service;
  std::string_view method;
};
struct TransportAction {
  bool drop = false;  // the message is lost: the call ends by its deadline
  Millis delay{0};
};
using TransportHook = std::function<TransportAction(const TransportEvent&)>;

struct ChannelPoolOptions {
  std::string name = "rpc-client";  // prefix of thread names
  std::string user = "ratchet";     // effective user in the connection header
  // Proven to servers by the cluster's own processes; null: a client (S77: members only).
  std::shared_ptr<const MemberIdentity> member{};
  // If it connects by TLS, all connections do, and none falls back to plain text. Null: plain text.
  std::shared_ptr<const tls::ProcessTls> tls{};
  int io_threads = 1;       // at least 1
  bool cell_blocks = true;  // name KeyValueCodec in the connection header
  Millis connect_timeout{5'000};
  Millis reconnect_base{20};  // pause after a failed connect, doubling; calls made during it fail at once (kNotSent)
  Millis reconnect_cap{1'000};
  Millis silence_timeout{10'000};  // if calls wait, no data arrives for this long and one times out: reconnect
  std::size_t max_frame_bytes = 256u << 20;
  std::size_t max_unsent_bytes = 256u << 20;  // queued requests of one channel; one more fails with kResourceExhausted
  // Called on the I/O thread when an established connection has ended, except by Stop; must not block. May be empty.
  std::function<void(const Endpoint&)> connection_ended{};
  TransportHook hook{};  // empty in production
};

}  // namespace ratchet::rpc
