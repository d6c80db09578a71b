// The server's side of SASL's mechanism GSSAPI (RFC 4752), by which HBase's clients log in with Kerberos. Pure: bytes
// in, bytes and verdicts out; the login itself is a SecurityContext. Internal.
//
//   client  a token of GSSAPI
//   server  a token of GSSAPI, by which it proves itself
//   client  an empty message
//   server  wrapped: the protections that it offers (a byte of bits), the most bytes of a unit that it takes (3 bytes)
//   client  wrapped: the protection that it has chosen, likewise its most bytes, and the user for whom it acts
// The server answers nothing more. The messages with the protections are wrapped, so a relay cannot change them, S156
// (the protection is one that both want).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"
#include "common/rpc/security_context.h"

namespace ratchet::rpc {

inline constexpr std::size_t kMostGssapiMessage = 64u << 10;  // bytes of each message of the client
inline constexpr int kMostGssapiSteps = 3;                    // tokens of a client; Kerberos needs one
inline constexpr std::size_t kLeastUnit = 1u << 10;           // a client that takes less is refused
inline constexpr std::size_t kMostUnitField = 0xFF'FFFF;

// A client that has logged in.
struct KerberosLogin {
  LoginFacts facts;
  Protection protection = Protection::kAuth;
  std::size_t most_unit = 0;  // bytes of a wrapped unit that the client takes; of kAuth without meaning
};

// One thread at a time.
class GssapiServer {
 public:
  // `offered`: bits of Protection.
  GssapiServer(std::unique_ptr<SecurityContext> context, std::uint8_t offered)
      : context_(std::move(context)), offered_(offered) {}

  // `bytes`: the client's next message. Returns the message to send; nullopt: the login is complete, and nothing is
  // sent. Every error: the client must be refused, and the object takes no further message.
  [[nodiscard]] Result<std::optional<std::string>> OnMessage(std::string_view bytes);
  // Set at the end.
  [[nodiscard]] const std::optional<KerberosLogin>& login() const { return login_; }
  // At the end; call it once.
  [[nodiscard]] std::unique_ptr<SecurityContext> TakeContext() { return std::move(context_); }

 private:
  enum class Expects : std::uint8_t { kToken, kEmpty, kChoice, kNothing };
  [[nodiscard]] Result<std::optional<std::string>> OnToken(std::string_view bytes);
  [[nodiscard]] Result<std::optional<std::string>> Offer();
  [[nodiscard]] Status OnChoice(std::string_view bytes);

  std::unique_ptr<SecurityContext> context_;
  const std::uint8_t offered_;
  Expects expects_ = Expects::kToken;
  int steps_ = 0;
  LoginFacts facts_;
  std::uint8_t possible_ = 0;  // of those that are offered
  std::optional<KerberosLogin> login_;
};

}  // namespace ratchet::rpc
