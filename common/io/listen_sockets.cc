#include "common/io/listen_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/name_resolver.h"

namespace ratchet::io {
namespace {

constexpr Millis kLookUp{2'000};  // of one name
constexpr int kFreePorts = 20;    // maximum number of tries, if a free port of the first address is in use at another
                                  // address

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
};

bool IsSix(const std::string& address) { return address.find(':') != std::string::npos; }

Endpoint EndpointOf(const std::string& address, std::uint16_t port) {
  Endpoint endpoint;
  if (IsSix(address)) {
    auto& six = reinterpret_cast<sockaddr_in6&>(endpoint.address);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    static_cast<void>(::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr));
    endpoint.length = sizeof six;
  } else {
    auto& four = reinterpret_cast<sockaddr_in&>(endpoint.address);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    static_cast<void>(::inet_pton(AF_INET, address.c_str(), &four.sin_addr));
    endpoint.length = sizeof four;
  }
  return endpoint;
}

Result<std::vector<std::string>> AddressesOf(const std::string& hosts) {
  std::vector<std::string> addresses;
  for (std::size_t begin = 0; begin <= hosts.size();) {
    const std::size_t end = std::min(hosts.find(',', begin), hosts.size());
    RATCHET_ASSIGN(const auto found,
                   NameResolver::OfProcess().ResolveWithin(hosts.substr(begin, end - begin), kLookUp));
    for (const std::string& address : found) {
      // An address with a zone ("fe80::1%2") is reachable on one link only.
      if (!IsNumericHost(address)) continue;
      if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
    }
    begin = end + 1;
  }
  return addresses;
}

std::uint16_t PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

bool IsNotHere(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT; }

// errno on failure, 0 on success.
int Listen(const std::string& address, std::uint16_t port, bool only_six, FileDescriptor& out) {
  const Endpoint endpoint = EndpointOf(address, port);
  FileDescriptor fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return errno;
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return errno;
  const int six_only = only_six ? 1 : 0;
  if (IsSix(address) && ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &six_only, sizeof six_only) != 0)
    return errno;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length) != 0) return errno;
  if (::listen(fd.get(), SOMAXCONN) != 0) return errno;
  out = std::move(fd);
  return 0;
}

Error CannotListen(const std::string& hosts, std::uint16_t port, int error) {
  const Code code = error == EADDRINUSE                 ? Code::kAlreadyExists
                    : error == EACCES || error == EPERM ? Code::kFailedPrecondition
                                                        : Code::kUnavailable;
  return {code, fmt::format("cannot listen on {}: {}", JoinHostPort(hosts, port), std::strerror(error))};
}

// Returns the errno of the address that failed, 0 on success. Addresses of other machines are left out.
int ListenAtAll(const std::vector<std::string>& addresses, std::uint16_t port, ListenSockets& out) {
  const bool has_four = std::any_of(addresses.begin(), addresses.end(), [](const auto& each) { return !IsSix(each); });
  for (const std::string& address : addresses) {
    FileDescriptor fd(-1);
    const int error = Listen(address, port, has_four || address != "::", fd);
    if (IsNotHere(error)) continue;
    if (error != 0) return error;
    if (port == 0) port = PortOf(fd.get());
    out.sockets.push_back(std::move(fd));
    out.addresses.push_back(address);
  }
  out.port = port;
  return out.sockets.empty() ? EADDRNOTAVAIL : 0;
}

}  // namespace

Result<ListenSockets> ListenOn(const std::string& hosts, std::uint16_t port) {
  const auto addresses = AddressesOf(hosts);
  if (!addresses.ok()) {
    return Error(Code::kUnavailable,
                 fmt::format("cannot listen on {}: {}", JoinHostPort(hosts, port), addresses.error().message()));
  }
  for (int attempt = 1;; ++attempt) {
    ListenSockets sockets;
    const int error = ListenAtAll(*addresses, port, sockets);
    if (error == EADDRINUSE && port == 0 && attempt < kFreePorts) continue;
    if (error == EADDRNOTAVAIL) {
      return CannotListen(hosts, port, error)
          .Annotate(fmt::format("this machine has none of the addresses {}", fmt::join(*addresses, ", ")));
    }
    if (error != 0) return CannotListen(hosts, port, error);
    if (sockets.addresses.size() < addresses->size()) {
      RATCHET_LOG(kWarn, "listens on {} only; this machine does not have the other addresses of {}: {}",
                  fmt::join(sockets.addresses, ", "), hosts, fmt::join(*addresses, ", "));
    }
    return sockets;
  }
}

}  // namespace ratchet::io
