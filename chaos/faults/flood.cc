#include "chaos/faults/flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

namespace ratchet::chaos {
namespace {

constexpr int kConnectWithinMs = 200;
constexpr int kGivenUpAfter = 5;  // consecutive failed connections

io::FileDescriptor Connect(std::uint16_t port) {
  io::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return io::FileDescriptor(-1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (errno != EINPROGRESS) return io::FileDescriptor(-1);
  pollfd waiting{fd.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, kConnectWithinMs) != 1) return io::FileDescriptor(-1);
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return io::FileDescriptor(-1);
  return fd;
}

// Returns the bytes that one connection sends before it falls silent.
std::string Part(Prng& prng) {
  const std::string preamble("HBas\0\x50", 6);
  switch (prng.Below(4)) {
    case 0: return "";
    case 1: return preamble.substr(0, 3);
    case 2: return preamble + std::string("\0\0\0\x40", 4) + "half";
    default: return preamble + std::string("\x00\xff\xff\xff", 4);
  }
}

}  // namespace

std::size_t Flood::Open(std::uint16_t port, std::size_t count, Prng& prng) {
  std::size_t opened = 0;
  int failed = 0;
  for (std::size_t i = 0; i < count && failed < kGivenUpAfter; ++i) {
    io::FileDescriptor fd = Connect(port);
    if (fd.get() < 0) {
      ++failed;
      continue;
    }
    failed = 0;
    ++opened;
    const std::string part = Part(prng);
    // Refused connections are detected when they are counted.
    if (!part.empty() && ::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0) errno = 0;
    connections_.push_back(std::move(fd));
  }
  return opened;
}

std::size_t Flood::Refused() {
  std::size_t closed = 0;
  for (const io::FileDescriptor& fd : connections_) {
    char byte = 0;
    const ssize_t got = ::recv(fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ++closed;
  }
  return closed;
}

}  // namespace ratchet::chaos
