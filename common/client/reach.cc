#include "common/client/reach.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "common/base/host_port.h"
#include "common/base/name_resolver.h"
#include "common/io/connect_socket.h"

namespace ratchet::client {
namespace {

constexpr std::size_t kMostAnswer = 4'096;

Result<std::string> ReadAll(const io::FileDescriptor& socket, TimePoint deadline) {
  std::string answer;
  std::array<char, 512> part{};
  while (answer.size() < kMostAnswer) {
    if (!io::AwaitSocket(socket, POLLIN, deadline))
      return Error(Code::kTimeout, "it accepts the connection but does not answer");
    const ssize_t got = ::recv(socket.get(), part.data(), part.size(), 0);
    if (got <= 0) break;
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

// Returns an error when the other side closes the connection before any request.
Result<std::string> StaysOpen(const io::FileDescriptor& socket, TimePoint deadline) {
  constexpr Millis kLook{100};
  char byte = 0;
  if (!io::AwaitSocket(socket, POLLIN, std::min(deadline, SystemClock().Now() + kLook))) return std::string();
  if (::recv(socket.get(), &byte, 1, MSG_PEEK) > 0) return std::string();
  return Error(Code::kUnavailable, "it accepts the connection and closes it at once");
}

}  // namespace

Result<std::string> AskAddress(const std::string& address, const std::string& question, Millis patience) {
  const auto split = SplitHostPort(address);
  if (!split.has_value())
    return Error(Code::kInvalidArgument, fmt::format("'{}': expected host:port or [IPv6 address]:port", address));
  const TimePoint deadline = SystemClock().Now() + patience;
  RATCHET_ASSIGN(const auto addresses, NameResolver::OfProcess().ResolveWithin(split->host, patience));
  Status last = Error(Code::kUnavailable, "the name has no address");
  for (const std::string& numeric : addresses) {
    const io::ConnectAttempt attempt = io::ConnectTo(numeric, split->port, deadline);
    if (attempt.end == io::ConnectEnd::kNotNumeric) continue;
    if (attempt.end == io::ConnectEnd::kNoSocket) return Error(Code::kIo, fmt::format("socket: {}", attempt.reason));
    if (attempt.end != io::ConnectEnd::kConnected) {
      last = Error(attempt.end == io::ConnectEnd::kTimeout ? Code::kTimeout : Code::kUnavailable, attempt.reason);
      continue;
    }
    if (question.empty()) return StaysOpen(attempt.socket, deadline);
    if (::send(attempt.socket.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(question.size())) {
      return Error(Code::kUnavailable, fmt::format("send: {}", std::strerror(errno)));
    }
    return ReadAll(attempt.socket, deadline);
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
  return line.empty() ? "accepts connections but does not answer" : "runs, but: " + line;
}

}  // namespace ratchet::client
