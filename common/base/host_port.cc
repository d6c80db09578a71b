#include "common/base/host_port.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>

#include <fmt/core.h>

namespace ratchet {
namespace {

bool IsIpv6(std::string_view host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
}

bool IsIpv4(std::string_view host) {
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, port);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string JoinHostPort(std::string_view host, std::uint16_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

std::optional<HostPort> SplitHostPort(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = ParsePort(text.substr(colon + 1));
  if (!port.has_value()) return std::nullopt;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!IsIpv6(host)) return std::nullopt;
  }
  if (host.empty() || host.find_first_of("[]/, \t") != std::string_view::npos) return std::nullopt;
  if (host.find(':') != std::string_view::npos && !IsIpv6(host)) return std::nullopt;
  return HostPort{std::string(host), *port};
}

std::optional<std::vector<HostPort>> SplitHostPorts(std::string_view list) {
  std::vector<HostPort> found;
  for (;;) {
    const auto comma = list.find(',');
    auto one = SplitHostPort(list.substr(0, comma));
    if (!one.has_value()) return std::nullopt;
    found.push_back(*std::move(one));
    if (comma == std::string_view::npos) return found;
    list.remove_prefix(comma + 1);
  }
}

bool IsNumericHost(std::string_view host) { return IsIpv4(host) || IsIpv6(host); }

std::string NumericAddress(const sockaddr* peer, socklen_t size) {
  if (peer->sa_family != AF_INET && peer->sa_family != AF_INET6) return {};
  sockaddr_in four{};
  if (peer->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 six{};
    std::memcpy(&six, peer, sizeof six);
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
      four.sin_family = AF_INET;
      std::memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof four.sin_addr);
      peer = reinterpret_cast<const sockaddr*>(&four);
      size = sizeof four;
    }
  }
  std::array<char, NI_MAXHOST> text{};
  const int failed = ::getnameinfo(peer, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return failed != 0 ? std::string() : std::string(text.data());
}

bool IsLoopbackAddress(std::string_view host) {
  in_addr four{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), &four) == 1) return ntohl(four.s_addr) >> 24U == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, std::string(host).c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace ratchet
