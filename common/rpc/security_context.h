// SecurityContext: one login by Kerberos, as GSSAPI makes it. The interface keeps the library apart from the exchange
// (gssapi_sasl.h) and from the stream of protected bytes (protected_stream.h), which tests run without a KDC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::rpc {

// The facts of a complete login.
struct LoginFacts {
  std::string principal;  // of the client, as the library shows it: NAME@REALM with backslashes before special bytes
  bool mutual = false;    // the client has asked this process to prove itself too
  bool integrity = false;
  bool confidentiality = false;
  bool sequence = false;      // repeated, lost and reordered units are noticed
  bool anonymous = false;     // the principal is nobody's
  bool own_key = false;       // the session key is AES, so this process has added randomness of its own to it
  std::int64_t lives_ms = 0;  // until the ticket ends
};

// One thread at a time.
class SecurityContext {
 public:
  virtual ~SecurityContext() = default;

  struct Step {
    std::string token;  // for the client; may be empty
    bool complete = false;
  };
  // `token`: any bytes, of a client. An error is the text for the client. May read files.
  [[nodiscard]] virtual Result<Step> Accept(std::string_view token) = 0;
  // The functions below are for a complete login.
  [[nodiscard]] virtual Result<LoginFacts> Facts() = 0;
  [[nodiscard]] virtual Result<std::string> Wrap(std::string_view plain, bool encrypt) = 0;
  struct Plain {
    std::string bytes;
    bool encrypted = false;
  };
  // An error: the bytes were changed, repeated, reordered or lost on their way.
  [[nodiscard]] virtual Result<Plain> Unwrap(std::string_view wrapped) = 0;
  // The most plain bytes that Wrap makes into at most `most` bytes; 0: none.
  [[nodiscard]] virtual std::size_t PlainLimit(std::size_t most, bool encrypt) = 0;
};

// How the bytes after a login are protected. The values are the bits of SASL's mechanism GSSAPI (RFC 4752).
enum class Protection : std::uint8_t {
  kAuth = 1,       // not at all
  kIntegrity = 2,  // a change is noticed
  kPrivacy = 4,    // encrypted as well
};
// As Java names them: "auth", "auth-int", "auth-conf".
[[nodiscard]] std::string_view ProtectionName(Protection protection);

// The side of a process that accepts logins. Thread-safe; no function waits.
class KerberosAcceptor {
 public:
  virtual ~KerberosAcceptor() = default;
  [[nodiscard]] virtual std::unique_ptr<SecurityContext> Begin() const = 0;
  // The principal of this process, NAME@REALM. Users of this realm have a short name.
  [[nodiscard]] virtual const std::string& principal() const = 0;
  // The bits of all that are offered; at least one.
  [[nodiscard]] virtual std::uint8_t protections() const = 0;
};

}  // namespace ratchet::rpc
