// The server's side of SASL's DIGEST-MD5 (RFC 2831, qop "auth"), by which HBase's clients show that they have a token.
// Pure: bytes in, bytes and verdicts out. Internal.
//
//   client  an empty message
//   server  the challenge: realm, nonce, qop, charset, algorithm
//   client  the response: its user name is the base64 text of the token's identifier
//   server  rspauth, which proves that the server knows the token's password too
// The password in the digests is the base64 text of the token's password. It is not sent, and a recorded response is
// worthless on another connection, because each has its own nonce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::rpc {

inline constexpr std::size_t kDigestNonceBytes = 24;         // random, before they become base64
inline constexpr std::size_t kMostDigestResponse = 4'096;    // bytes of each message of the client
inline constexpr std::size_t kMostDigestDirectives = 32;     // in a response
inline constexpr std::string_view kDigestRealm = "default";  // HBase's, like the next one
inline constexpr std::string_view kDigestUri = "null/default";

// The parts of a response by name, in lower case. kInvalidArgument: it is not a list `name=value, name="value"`, or a
// name appears twice.
[[nodiscard]] Result<std::map<std::string, std::string>> ReadDigestDirectives(std::string_view text);

struct DigestInput {
  std::string_view user;
  std::string_view password;
  std::string_view nonce;
  std::string_view client_nonce;
};
// The value of the part response; with `of_server`, of the part rspauth.
[[nodiscard]] std::string DigestValue(const DigestInput& input, bool of_server);

class DigestServer {
 public:
  // Returns the password of the token with this identifier. An error refuses the client, which gets its text.
  using PasswordOf = std::function<Result<std::string>(const std::string& identifier)>;
  // `nonce`: printable, without quotes, never used before.
  DigestServer(std::string nonce, PasswordOf password_of)
      : nonce_(std::move(nonce)), password_of_(std::move(password_of)) {}

  // `bytes`: the client's next message. Returns the message to send. Every error: the client must be refused, and the
  // object takes no further message.
  [[nodiscard]] Result<std::string> OnMessage(std::string_view bytes);
  // Identifies the token; set at the end.
  [[nodiscard]] const std::optional<std::string>& identifier() const { return identifier_; }

 private:
  enum class Expects : std::uint8_t { kBegin, kResponse, kNothing };
  [[nodiscard]] Result<std::string> OnResponse(std::string_view bytes);

  const std::string nonce_;
  const PasswordOf password_of_;
  Expects expects_ = Expects::kBegin;
  std::optional<std::string> identifier_;
};

}  // namespace ratchet::rpc
