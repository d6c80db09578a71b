// An open connection of a server, as operators see it, and which of them they select.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/rpc/call.h"

namespace ratchet::rpc {

// Bytes of one text from outside that are kept. No user with rights has a longer name.
inline constexpr std::size_t kMostShownBytes = 256;
inline constexpr std::size_t kMostListedConnections = 10'000;  // in one answer

// A connection whose client has introduced itself.
struct ShownConnection {
  std::uint64_t id = 0;  // CallContext::connection
  std::string peer;      // "address:port"
  std::string user, real_user, claimed_user;
  Authentication authentication = Authentication::kSimple;
  std::string member;  // the name that a member has proven; empty: a client, or a member without a proof
  std::string tls;     // version and cipher; empty: plain text
  std::string serial;  // of the client's certificate
  std::string service;
  std::int64_t since_ms = 0;  // of the wall clock
  std::size_t calls = 0;      // in progress
};

// Selects connections. Empty members allow everything.
struct ConnectionFilter {
  std::optional<std::string> user;
  std::string address;  // with or without a port
  bool plain_text = false;
  [[nodiscard]] bool Matches(const ShownConnection& facts) const;
};

}  // namespace ratchet::rpc
