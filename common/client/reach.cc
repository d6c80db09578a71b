#include "common/client/reach.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/core.h>

namespace ratchet::client {
namespace {

constexpr std::size_t kMostAnswer = 4'096;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  const int fd_;
};

// True: `events` came before `deadline`.
bool Await(int fd, short events, TimePoint deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<Millis>(deadline - SystemClock().Now());
    if (left.count() <= 0) return false;
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Status Connect(int fd, const addrinfo& to, TimePoint deadline) {
  if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return Ok();
  if (errno != EINPROGRESS) return Error(Code::kUnavailable, std::strerror(errno));
  if (!Await(fd, POLLOUT, deadline)) return Error(Code::kTimeout, "no connection in time");
  int failure = 0;
  socklen_t length = sizeof(failure);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &length) != 0) failure = errno;
  if (failure == 0) return Ok();
  return Error(Code::kUnavailable, std::strerror(failure));
}

Result<std::string> ReadAll(int fd, TimePoint deadline) {
  std::string answer;
  std::array<char, 512> part{};
  while (answer.size() < kMostAnswer) {
    if (!Await(fd, POLLIN, deadline)) return Error(Code::kTimeout, "it accepts the connection and does not answer");
    const ssize_t got = ::recv(fd, part.data(), part.size(), 0);
    if (got <= 0) break;
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

}  // namespace

Result<std::string> AskAddress(const std::string& address, const std::string& question, Millis patience) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos)
    return Error(Code::kInvalidArgument, fmt::format("'{}': expected host:port", address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &found);
  if (failed != 0) return Error(Code::kUnavailable, fmt::format("the name has no address: {}", ::gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const TimePoint deadline = SystemClock().Now() + patience;
  Status last = Error(Code::kUnavailable, "the name has no address");
  for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
    const Socket socket(::socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to->ai_protocol));
    if (socket.fd() < 0) return Error(Code::kIo, fmt::format("socket: {}", std::strerror(errno)));
    last = Connect(socket.fd(), *to, deadline);
    if (!last.ok()) continue;
    if (question.empty()) return std::string();
    if (::send(socket.fd(), question.data(), question.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(question.size())) {
      return Error(Code::kUnavailable, fmt::format("send: {}", std::strerror(errno)));
    }
    return ReadAll(socket.fd(), deadline);
  }
  return last.error();
}

std::string ZooKeeperMemberText(const std::string& address, Millis patience, bool& serves) {
  serves = false;
  const auto answer = AskAddress(address, "srvr", patience);
  if (!answer.ok()) return "does not answer: " + answer.error().message();
  const auto mode = answer->find("Mode: ");
  if (mode != std::string::npos) {
    serves = true;
    return "serves as " + answer->substr(mode + 6, answer->find('\n', mode) - mode - 6);
  }
  std::string line = answer->substr(0, answer->find('\n'));
  return line.empty() ? "accepts connections and says nothing" : "runs, but: " + line;
}

}  // namespace ratchet::client
