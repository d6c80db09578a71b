// CallerRules: who the user of a connection is. A server without rules believes what a client names itself.
//
// The answer belongs to the connection and holds for all its calls; nothing in a request changes it, S137 (identity is
// the connection's). Members prove themselves by the cluster's key and are not asked about here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/rpc/call.h"
#include "common/tls/peer_certificate.h"

namespace ratchet::rpc {

// The certificate and the claims of a connection.
struct CallerClaims {
  const tls::PeerCertificate* certificate = nullptr;  // verified; null: none
  bool encrypted = false;
  std::string_view effective_user;   // of the connection header
  std::string_view real_user;        // of the connection header
  std::string_view address;          // of the client, without its port
  std::string_view principal{};      // of Kerberos, proven; empty: none
  std::string_view own_principal{};  // of this process; empty: it accepts no Kerberos
};

struct Caller {
  std::string user;
  Authentication authentication = Authentication::kSimple;
  std::string real_user;     // as in CallContext, like the next one
  std::string claimed_user;  // see above
  bool operator==(const Caller&) const = default;
};

// Thread-safe.
class CallerRules {
 public:
  virtual ~CallerRules() = default;
  // An error is the text for the client; it ends the connection.
  [[nodiscard]] virtual Result<Caller> Decide(const CallerClaims& claims) const = 0;
  // For the record of a refused client: the user that it has proven, whatever it claims. Empty: none.
  [[nodiscard]] virtual std::string Proven(const CallerClaims& claims) const = 0;
  // Rises whenever an answer may have changed: open connections are judged again.
  [[nodiscard]] virtual std::uint64_t changes() const = 0;
};

}  // namespace ratchet::rpc
