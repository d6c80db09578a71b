// The text of an address: a host and a port. Every place that joins or splits the two uses these functions, because an
// IPv6 address has colons of its own and gets brackets: "[::1]:16020". Pure, thread-safe.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

struct HostPort {
  std::string host;  // without brackets
  std::uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
};

// "host:port", or "[address]:port" for an IPv6 address.
[[nodiscard]] std::string JoinHostPort(std::string_view host, std::uint16_t port);

// The inverse. The part after the last colon is the port, so "::1:2181" (which older versions wrote) is read too.
// Returns nullopt when the port is missing or not in 1..65535, the host is empty, or it has colons and is not an IPv6
// address.
[[nodiscard]] std::optional<HostPort> SplitHostPort(std::string_view text);

// Splits "h1:p,[h2]:p". Returns nullopt when the list is empty, or one of its parts is not an address.
[[nodiscard]] std::optional<std::vector<HostPort>> SplitHostPorts(std::string_view list);

// Returns true if `host` is an IPv4 or IPv6 address, and needs no look-up.
[[nodiscard]] bool IsNumericHost(std::string_view host);
// The address of a peer as text, without a port. An IPv4 peer of a socket for both families is shown as IPv4, so that
// rules and limits see one address. Empty if the address is of another family.
[[nodiscard]] std::string NumericAddress(const sockaddr* peer, socklen_t size);
// Returns true if `host` is an address of this machine's loopback interface.
[[nodiscard]] bool IsLoopbackAddress(std::string_view host);

}  // namespace ratchet
