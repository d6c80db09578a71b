#include "chaos/faults/zookeeper_takeover.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/host_port.h"
#include "common/io/file_descriptor.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kPasswordSize = 16;

void PutInt(std::string& out, std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bits >> shift));
}
void PutLong(std::string& out, std::int64_t value) {
  PutInt(out, static_cast<std::int32_t>(value >> 32));
  PutInt(out, static_cast<std::int32_t>(value));
}
std::int64_t GetBigEndian(const std::string& in, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(in[at + i]);
  return static_cast<std::int64_t>(value);
}

Error TakeoverError(const char* what) {
  return {Code::kUnavailable, fmt::format("ZooKeeper: {}: {}", what, std::strerror(errno))};
}

Result<io::FileDescriptor> Connect(const std::string& address, Millis timeout) {
  const auto parts = SplitHostPort(address);
  if (!parts) return Error(Code::kInvalidArgument, "'" + address + "' is not an address HOST:PORT");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parts->port);
  if (inet_pton(AF_INET, parts->host.c_str(), &to.sin_addr) != 1) {
    return Error(Code::kInvalidArgument, "'" + address + "' is not an IPv4 address in numbers");
  }
  io::FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return TakeoverError("socket");
  const timeval limit{timeout.count() / 1000, static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return TakeoverError("connect");
  return fd;
}

Status SendFrame(int fd, const std::string& body) {
  std::string frame;
  PutInt(frame, static_cast<std::int32_t>(body.size()));
  frame += body;
  if (send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frame.size()))
    return TakeoverError("send");
  return Ok();
}

Result<std::string> ReceiveExactly(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    const ssize_t got = recv(fd, bytes.data() + have, size - have, 0);
    if (got <= 0) return TakeoverError("receive");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::string> ReceiveFrame(int fd) {
  RATCHET_ASSIGN(const auto head, ReceiveExactly(fd, 4));
  const auto size = GetBigEndian(head, 0, 4);
  if (size < 0 || size > 4096) return Error(Code::kCorruption, "ZooKeeper sent a frame of impossible length");
  return ReceiveExactly(fd, static_cast<std::size_t>(size));
}

Status CloseSessionAt(const std::string& address, std::int64_t session, Millis timeout) {
  RATCHET_ASSIGN(const auto fd, Connect(address, timeout));
  const auto password = SessionPassword(session);
  std::string request;
  PutInt(request, 0);                                           // protocol version
  PutLong(request, 0);                                          // last transaction seen
  PutInt(request, static_cast<std::int32_t>(timeout.count()));  // session timeout
  PutLong(request, session);
  PutInt(request, static_cast<std::int32_t>(password.size()));
  request.append(reinterpret_cast<const char*>(password.data()), password.size());
  request.push_back(0);  // not read-only
  RATCHET_TRY(SendFrame(fd.get(), request));
  RATCHET_ASSIGN(const auto answer, ReceiveFrame(fd.get()));
  if (answer.size() < 16) return Error(Code::kCorruption, "ZooKeeper's answer is too short");
  if (GetBigEndian(answer, 8, 8) != session) {
    return Error(Code::kNotFound, fmt::format("ZooKeeper has no session {:#x}", static_cast<std::uint64_t>(session)));
  }
  std::string close;
  PutInt(close, 1);    // request number
  PutInt(close, -11);  // close session
  RATCHET_TRY(SendFrame(fd.get(), close));
  RATCHET_ASSIGN(const auto closed, ReceiveFrame(fd.get()));
  if (closed.size() < 16 || GetBigEndian(closed, 12, 4) != 0) {
    return Error(Code::kIo, "ZooKeeper refused to close the session");
  }
  return Ok();
}

}  // namespace

std::array<std::uint8_t, kPasswordSize> SessionPassword(std::int64_t session) {
  constexpr std::uint64_t kServerSecret = 0xB3415C00ULL;
  constexpr std::uint64_t kMultiplier = 0x5DEECE66DULL;
  constexpr std::uint64_t kMask = (1ULL << 48) - 1;
  std::uint64_t state = (static_cast<std::uint64_t>(session) ^ kServerSecret ^ kMultiplier) & kMask;
  std::array<std::uint8_t, kPasswordSize> password{};
  for (std::size_t i = 0; i < password.size(); i += 4) {
    state = (state * kMultiplier + 0xB) & kMask;
    const auto drawn = static_cast<std::uint32_t>(state >> 16);
    for (std::size_t byte = 0; byte < 4; ++byte) password[i + byte] = static_cast<std::uint8_t>(drawn >> (8 * byte));
  }
  return password;
}

Status CloseSession(const std::string& addresses, std::int64_t session, Millis timeout) {
  Status last = Error(Code::kInvalidArgument, "no ZooKeeper server is named");
  for (std::size_t from = 0; from <= addresses.size();) {
    const auto comma = std::min(addresses.find(',', from), addresses.size());
    last = CloseSessionAt(addresses.substr(from, comma - from), session, timeout);
    if (last.ok() || last.error().code() == Code::kNotFound) return last;
    from = comma + 1;
  }
  return last;
}

}  // namespace ratchet::chaos
