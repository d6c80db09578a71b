#include "common/identity/login_file.h"

#include <charconv>
#include <utility>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "common/base/check.h"
#include "common/identity/rule_file.h"
#include "common/rights/rights_entry.h"
#include "common/rpc/digests.h"

namespace ratchet::identity {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::uint64_t kMostMemory = 64U << 20U;
constexpr std::string_view kPasswordKind = "scrypt";
constexpr std::string_view kTokenHash = "sha256";

Error BadLogin(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(':');
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool Number(std::string_view text, std::uint32_t low, std::uint32_t high, std::uint32_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= low && value <= high;
}

Result<std::string> UserName(std::string_view user) {
  if (user.starts_with(rights::kGroupMark) || user.find_first_of(": \t\r\n") != std::string_view::npos)
    return BadLogin(fmt::format("'{}' is not a user: it has a space or ':', or begins with '@'", ShownName(user)));
  RATCHET_TRY(rights::CheckGrantee(user));
  return std::string(user);
}

}  // namespace

std::string LoginFile::Scrypt::Of(std::string_view password) const {
  std::string made(rpc::kDigestBytes, '\0');
  const int done = EVP_PBE_scrypt(password.data(), password.size(), reinterpret_cast<const unsigned char*>(salt.data()),
                                  salt.size(), std::uint64_t{1} << log2n, r, p, kMostMemory,
                                  reinterpret_cast<unsigned char*>(made.data()), made.size());
  RATCHET_CHECK(done == 1, "OpenSSL computes no scrypt");
  return made;
}

Result<LoginFile::Scrypt> LoginFile::Scrypt::Parse(std::string_view text) {
  const auto parts = Parts(text);
  Scrypt made;
  // Weaker numbers protect nothing; larger ones would take the memory and the time of the process.
  const bool right = parts.size() == 6 && parts[0] == kPasswordKind && Number(parts[1], 14, 15, made.log2n) &&
                     Number(parts[2], 8, 8, made.r) && Number(parts[3], 1, 8, made.p);
  const auto salt = right ? rpc::FromHex(parts[4]) : std::nullopt;
  const auto hash = right ? rpc::FromHex(parts[5]) : std::nullopt;
  if (!salt.has_value() || salt->size() != kSaltBytes || !hash.has_value() || hash->size() != rpc::kDigestBytes)
    return BadLogin("not a hash of a password; `ratchet page-login` makes one");
  made.salt = *salt;
  made.hash = *hash;
  return made;
}

Result<LoginFile> LoginFile::Parse(std::string_view text) {
  RATCHET_ASSIGN(const auto lines, SplitRules(text));
  LoginFile file;
  for (const RuleLine& line : lines) {
    const auto wrong = [&line](std::string_view why) { return BadLogin(fmt::format("line {}: {}", line.number, why)); };
    if (line.words.size() != 3) return wrong("a login is 'password USER HASH' or 'token USER HASH'");
    const auto user = UserName(line.words[1]);
    if (!user.ok()) return wrong(user.error().message());
    if (line.words[0] == "password") {
      auto hash = Scrypt::Parse(line.words[2]);
      if (!hash.ok()) return wrong(hash.error().message());
      if (!file.passwords_.emplace(*user, std::move(*hash)).second) return wrong("this user has a password already");
    } else if (line.words[0] == "token") {
      const auto parts = Parts(line.words[2]);
      auto hash = parts.size() == 2 && parts[0] == kTokenHash ? rpc::FromHex(parts[1]) : std::nullopt;
      if (!hash.has_value() || hash->size() != rpc::kDigestBytes)
        return wrong("not a hash of a token; `ratchet page-login` makes one");
      file.tokens_.push_back({*user, std::move(*hash)});
    } else {
      return wrong("a login is 'password USER HASH' or 'token USER HASH'");
    }
  }
  return file;
}

bool LoginFile::HasPassword(std::string_view user, std::string_view password) const {
  if (password.size() > kMostSecretBytes) return false;
  const auto found = passwords_.find(user);
  Scrypt nobody;
  nobody.salt.assign(kSaltBytes, '\0');
  const Scrypt& wanted = found == passwords_.end() ? nobody : found->second;
  const std::string made = wanted.Of(password);
  return found != passwords_.end() && rpc::SameSecret(made, wanted.hash);
}

std::optional<std::string> LoginFile::UserOfToken(std::string_view token) const {
  if (token.size() > kMostSecretBytes) return std::nullopt;
  const std::string hash = rpc::Sha256(token);
  const Token* found = nullptr;
  for (const Token& each : tokens_)
    if (rpc::SameSecret(each.hash, hash)) found = &each;
  return found == nullptr ? std::nullopt : std::optional<std::string>(found->user);
}

Result<std::string> LoginFile::PasswordLine(std::string_view user, std::string_view password) {
  RATCHET_ASSIGN(const std::string name, UserName(user));
  constexpr std::size_t kShortest = 8;
  if (password.size() < kShortest || password.size() > kMostSecretBytes)
    return BadLogin(fmt::format("a password has {} to {} bytes", kShortest, kMostSecretBytes));
  Scrypt made;
  made.salt = rpc::RandomBytes(kSaltBytes);
  return fmt::format("password {} {}:{}:{}:{}:{}:{}", name, kPasswordKind, made.log2n, made.r, made.p,
                     rpc::HexText(made.salt), rpc::HexText(made.Of(password)));
}

Result<std::string> LoginFile::TokenLine(std::string_view user, std::string_view token) {
  RATCHET_ASSIGN(const std::string name, UserName(user));
  constexpr std::size_t kShortest = 32;
  if (token.size() < kShortest || token.size() > kMostSecretBytes)
    return BadLogin(fmt::format("a token has {} to {} bytes", kShortest, kMostSecretBytes));
  return fmt::format("token {} {}:{}", name, kTokenHash, rpc::HexText(rpc::Sha256(token)));
}

std::string LoginFile::NewToken() { return rpc::HexText(rpc::RandomBytes(kTokenBytes)); }

}  // namespace ratchet::identity
