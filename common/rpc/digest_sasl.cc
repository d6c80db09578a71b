#include "common/rpc/digest_sasl.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/rpc/digests.h"

namespace ratchet::rpc {
namespace {

constexpr std::string_view kFirstCount = "00000001";
constexpr std::string_view kQop = "auth";
constexpr std::string_view kWhite = " \t\r\n";

Error Wrong(std::string why) { return Error(Code::kInvalidArgument, std::move(why), std::string(exception::kSasl)); }

bool IsNameByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

void SkipWhite(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(kWhite), text.size())); }

std::string CutName(std::string_view& text) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), IsNameByte);
  std::string name(text.begin(), end);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  text.remove_prefix(name.size());
  return name;
}

// `text` begins behind the quote, and afterwards behind the closing one.
std::optional<std::string> CutQuoted(std::string_view& text) {
  std::string value;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return value;
    }
    if (text[at] == '\\' && ++at == text.size()) return std::nullopt;
    value += text[at];
  }
  return std::nullopt;
}

std::optional<std::string> CutValue(std::string_view& text) {
  if (text.starts_with('"')) {
    text.remove_prefix(1);
    return CutQuoted(text);
  }
  std::string value(text.substr(0, text.find_first_of(", \t\r\n\"")));
  text.remove_prefix(value.size());
  if (value.empty()) return std::nullopt;
  return value;
}

std::string ValueOf(const std::map<std::string, std::string>& directives, const std::string& name) {
  const auto found = directives.find(name);
  return found == directives.end() ? std::string() : found->second;
}

// The parts whose value is known before.
Status CheckFixed(const std::map<std::string, std::string>& directives, const std::string& nonce) {
  const auto is = [&](const char* name, std::string_view wanted) { return ValueOf(directives, name) == wanted; };
  if (!is("realm", kDigestRealm)) return Wrong("another realm than that of the challenge");
  if (!is("nonce", nonce) && !RATCHET_MUTANT("rpc.any_digest_nonce"))
    return Wrong("the response answers another challenge");
  if (!is("nc", kFirstCount)) return Wrong("the nonce count is not 1");
  if (directives.contains("qop") && !is("qop", kQop)) return Wrong("another protection than auth");
  if (!is("digest-uri", kDigestUri)) return Wrong("the response is for another server");
  if (directives.contains("charset") && !is("charset", "utf-8")) return Wrong("another character set than utf-8");
  if (directives.contains("authzid")) return Wrong("a token acts for its own user only");
  if (ValueOf(directives, "cnonce").empty()) return Wrong("a response without the client's nonce");
  return Ok();
}

}  // namespace

Result<std::map<std::string, std::string>> ReadDigestDirectives(std::string_view text) {
  std::map<std::string, std::string> directives;
  SkipWhite(text);
  while (true) {
    std::string name = CutName(text);
    SkipWhite(text);
    if (name.empty() || !text.starts_with('=')) return Wrong("the response is not a list of names and values");
    text.remove_prefix(1);
    SkipWhite(text);
    auto value = CutValue(text);
    if (!value.has_value()) return Wrong(fmt::format("the response has no complete value of {}", name));
    if (directives.size() == kMostDigestDirectives || !directives.emplace(std::move(name), *std::move(value)).second)
      return Wrong("the response has a name twice, or too many names");
    SkipWhite(text);
    if (text.empty()) return directives;
    if (!text.starts_with(',')) return Wrong("the response is not a list separated by commas");
    text.remove_prefix(1);
    SkipWhite(text);
  }
}

// RFC 2831, 2.1.2.1, for the algorithm md5-sess.
std::string DigestValue(const DigestInput& input, bool of_server) {
  const std::string secret = Md5(fmt::format("{}:{}:{}", input.user, kDigestRealm, input.password));
  const std::string session = HexText(Md5(fmt::format("{}:{}:{}", secret, input.nonce, input.client_nonce)));
  const std::string asked = HexText(Md5(fmt::format("{}:{}", of_server ? "" : "AUTHENTICATE", kDigestUri)));
  return HexText(
      Md5(fmt::format("{}:{}:{}:{}:{}:{}", session, input.nonce, kFirstCount, input.client_nonce, kQop, asked)));
}

Result<std::string> DigestServer::OnMessage(std::string_view bytes) {
  switch (std::exchange(expects_, Expects::kNothing)) {
    case Expects::kBegin:
      if (!bytes.empty()) return Wrong("the first message of DIGEST-MD5 is not empty");
      expects_ = Expects::kResponse;
      return fmt::format(R"(realm="{}",nonce="{}",qop="{}",charset=utf-8,algorithm=md5-sess)", kDigestRealm, nonce_,
                         kQop);
    case Expects::kResponse: return OnResponse(bytes);
    case Expects::kNothing: break;
  }
  return Wrong("a message after the end of DIGEST-MD5");
}

Result<std::string> DigestServer::OnResponse(std::string_view bytes) {
  if (bytes.size() > kMostDigestResponse) return Wrong(fmt::format("a response of {} bytes", bytes.size()));
  RATCHET_ASSIGN(const auto directives, ReadDigestDirectives(bytes));
  RATCHET_TRY(CheckFixed(directives, nonce_));
  const std::string user = ValueOf(directives, "username");
  auto identifier = FromBase64(user);
  if (!identifier.has_value() || identifier->empty()) return Wrong("the user name is not the identifier of a token");
  RATCHET_ASSIGN(const std::string password, password_of_(*identifier));
  const std::string client_nonce = ValueOf(directives, "cnonce");
  const std::string text = ToBase64(password);
  const DigestInput input{user, text, nonce_, client_nonce};
  if (!SameSecret(DigestValue(input, /*of_server=*/false), ValueOf(directives, "response")) &&
      !RATCHET_MUTANT("rpc.any_digest_response"))
    return Wrong("the response was made with another password than the token's");
  identifier_ = *std::move(identifier);
  return "rspauth=" + DigestValue(input, /*of_server=*/true);
}

}  // namespace ratchet::rpc
