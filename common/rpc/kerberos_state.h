// The part of a server's connection that only a client with Kerberos has. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/rpc/gssapi_sasl.h"
#include "common/rpc/protected_stream.h"

namespace ratchet::rpc {

struct ServerKerberos {
  ServerKerberos(GssapiServer login_exchange, std::string client_address)
      : exchange(std::move(login_exchange)), address(std::move(client_address)) {}

  GssapiServer exchange;  // used by a thread of TlsHandshakes while the connection computes a login
  const std::string address;
  bool in_login = true;                       // has a place among TlsHandshakes
  std::optional<KerberosLogin> login{};       // complete
  std::int64_t ends_ms = 0;                   // of the wall clock; of the ticket
  std::unique_ptr<ProtectedStream> stream{};  // null: what follows the login is not protected by it
};

}  // namespace ratchet::rpc
