// LoginFile: the passwords and tokens by which readers log in to the page. Pure, immutable.
//
// One login a line: "password USER scrypt:LOG2N:R:P:SALT:HASH" or "token USER sha256:HASH", numbers decimal, the others
// hexadecimal. `ratchet page-login` makes these lines. A password is slow to compare, so that a thief of the file
// cannot try many; a token is random and long, so that a plain hash is enough. Comparisons take the same time for every
// wrong secret, and for every user that does not exist.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::identity {

inline constexpr std::size_t kMostSecretBytes = 1U << 10U;  // of a password or token
inline constexpr std::size_t kTokenBytes = 32;              // random bytes of a new token

class LoginFile {
 public:
  // An error names the line.
  [[nodiscard]] static Result<LoginFile> Parse(std::string_view text);
  // Needs a tenth of a second and up to 32 MiB.
  [[nodiscard]] bool HasPassword(std::string_view user, std::string_view password) const;
  // The user of the token; nullopt: no user has it.
  [[nodiscard]] std::optional<std::string> UserOfToken(std::string_view token) const;
  [[nodiscard]] bool empty() const { return passwords_.empty() && tokens_.empty(); }

  // New lines of a file. kInvalidArgument: the user or the secret cannot be used.
  [[nodiscard]] static Result<std::string> PasswordLine(std::string_view user, std::string_view password);
  [[nodiscard]] static Result<std::string> TokenLine(std::string_view user, std::string_view token);
  [[nodiscard]] static std::string NewToken();

 private:
  struct Scrypt {
    std::uint32_t log2n = 14;
    std::uint32_t r = 8;
    std::uint32_t p = 5;
    std::string salt;
    std::string hash;
    [[nodiscard]] std::string Of(std::string_view password) const;
    [[nodiscard]] static Result<Scrypt> Parse(std::string_view text);
  };
  struct Token {
    std::string user;
    std::string hash;
  };

  std::map<std::string, Scrypt, std::less<>> passwords_;
  std::vector<Token> tokens_;
};

}  // namespace ratchet::identity
