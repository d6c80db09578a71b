#include "common/zk/quiet_close.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ratchet::zk {
namespace {

constexpr int kMostMs = 100;
constexpr int kHighestLooked = 1024;  // highest descriptor searched; the session's is among the first that a process
                                      // opens

// Returns a second descriptor of the socket that is connected to `peer`; -1: none was found, or none is free.
int SecondDescriptor(const sockaddr_storage& peer, socklen_t length) {
  for (int fd = 3; fd < kHighestLooked; ++fd) {
    sockaddr_storage other{};
    socklen_t other_length = sizeof other;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&other), &other_length) != 0) continue;
    if (other_length == length && std::memcmp(&other, &peer, length) == 0) return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  }
  return -1;
}

}  // namespace

int CloseQuietly(zhandle_t* handle) {
  int kept = -1;
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (zookeeper_get_connected_host(handle, reinterpret_cast<sockaddr*>(&peer), &length) != nullptr)
    kept = SecondDescriptor(peer, length);
  const int code = zookeeper_close(handle);
  if (kept < 0) return code;
  pollfd closed{kept, POLLRDHUP, 0};
  while (code == ZOK && ::poll(&closed, 1, kMostMs) < 0 && errno == EINTR) {
  }
  ::close(kept);
  return code;
}

}  // namespace ratchet::zk
