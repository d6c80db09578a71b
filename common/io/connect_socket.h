// One attempt to connect to an address, with a time limit and without an event loop. Blocks; for threads that may wait.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/io/file_descriptor.h"

namespace ratchet::io {

enum class ConnectEnd : std::uint8_t {
  kConnected,
  kRefused,     // the system of the other side says that nothing listens there
  kFailed,      // another error of the network
  kTimeout,     // no answer before the deadline
  kNotNumeric,  // the text is not a numeric address
  kNoSocket,    // this process cannot have another socket
};

struct ConnectAttempt {
  ConnectEnd end;
  FileDescriptor socket{-1};  // non-blocking; if connected
  std::string reason{};       // otherwise, as the system words it
};

// `address`: numeric, IPv4 or IPv6; no name is looked up.
[[nodiscard]] ConnectAttempt ConnectTo(const std::string& address, std::uint16_t port, TimePoint deadline);

// Returns true if `events` of poll(2) came before `deadline`.
[[nodiscard]] bool AwaitSocket(const FileDescriptor& socket, short events, TimePoint deadline);

}  // namespace ratchet::io
