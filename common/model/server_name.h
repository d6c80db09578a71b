// A region server or master process: one incarnation at one address.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

// `start_code` distinguishes incarnations at one address: milliseconds since 1970, raised when needed, S5 (rising start
// code).
struct ServerName {
  std::string host;  // lower case
  std::uint16_t port = 0;
  std::uint64_t start_code = 0;

  // "host,port,startcode"; kInvalidArgument for anything else.
  [[nodiscard]] static Result<ServerName> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const;
  // "host:port", with brackets around an IPv6 address (common/base/host_port.h).
  [[nodiscard]] std::string Address() const;
  [[nodiscard]] bool SameAddress(const ServerName& other) const { return host == other.host && port == other.port; }
  [[nodiscard]] bool empty() const { return host.empty(); }
  auto operator<=>(const ServerName&) const = default;
};

}  // namespace ratchet

template <>
struct std::hash<ratchet::ServerName> {
  std::size_t operator()(const ratchet::ServerName& name) const noexcept;
};
