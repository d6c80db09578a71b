#include "common/io/connect_socket.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

namespace ratchet::io {
namespace {

using AddressPtr = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Makes no look-up. Null: `host` is not a numeric address.
AddressPtr NumericAddress(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

ConnectAttempt Failed(int error) {
  return {error == ECONNREFUSED ? ConnectEnd::kRefused : ConnectEnd::kFailed, FileDescriptor(-1), std::strerror(error)};
}

}  // namespace

ConnectAttempt ConnectTo(const std::string& address, std::uint16_t port, TimePoint deadline) {
  const auto to = NumericAddress(address, port);
  if (to == nullptr) return {ConnectEnd::kNotNumeric};
  FileDescriptor socket(::socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to->ai_protocol));
  if (socket.get() < 0) return {ConnectEnd::kNoSocket, FileDescriptor(-1), std::strerror(errno)};
  if (::connect(socket.get(), to->ai_addr, to->ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return Failed(errno);
    if (!AwaitSocket(socket, POLLOUT, deadline))
      return {ConnectEnd::kTimeout, FileDescriptor(-1), "no connection in time"};
    int failure = 0;
    socklen_t length = sizeof(failure);
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &length) != 0) failure = errno;
    if (failure != 0) return Failed(failure);
  }
  return {ConnectEnd::kConnected, std::move(socket)};
}

bool AwaitSocket(const FileDescriptor& socket, short events, TimePoint deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<Millis>(deadline - SystemClock().Now());
    if (left.count() <= 0) return false;
    pollfd entry{socket.get(), events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace ratchet::io
