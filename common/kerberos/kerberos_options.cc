#include "common/kerberos/kerberos_options.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "common/rpc/security_context.h"

namespace ratchet::kerberos {
namespace {

constexpr std::string_view kHostMark = "_HOST";

Error Refusal(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != '/' && c != '@'; });
}

}  // namespace

void KerberosOptions::Bind(Settings& settings, KerberosOptions& options) {
  settings.AddText(
      {"kerberos-keytab",
       "File with the keys of --kerberos-principal: clients may log in with Kerberos. Empty: they may not.",
       {}},
      &options.keytab);
  settings.AddText({"kerberos-principal",
                    "Principal of this process, NAME/HOST@REALM; _HOST becomes --host in lower case. Users of its "
                    "realm have a short name.",
                    {}},
                   &options.principal);
  settings.AddText({"kerberos-protection",
                    "Protections that a client may choose for what follows its login, separated by commas: auth "
                    "(none), auth-int (changes are noticed), auth-conf (encrypted).",
                    {}},
                   &options.protection);
}

Result<std::uint8_t> ProtectionsOf(std::string_view list) {
  std::uint8_t bits = 0;
  while (true) {
    const std::string_view word = list.substr(0, list.find(','));
    std::uint8_t bit = 0;
    for (const rpc::Protection each : {rpc::Protection::kAuth, rpc::Protection::kIntegrity, rpc::Protection::kPrivacy})
      if (word == rpc::ProtectionName(each)) bit = static_cast<std::uint8_t>(each);
    if (bit == 0)
      return Refusal(fmt::format("--kerberos-protection: '{}' is not one of auth, auth-int, auth-conf", word));
    bits |= bit;
    if (word.size() == list.size()) return bits;
    list.remove_prefix(word.size() + 1);
  }
}

Result<std::string> PrincipalFor(std::string_view principal, std::string_view host) {
  const std::size_t slash = principal.find('/');
  const std::size_t at = principal.rfind('@');
  const bool formed = slash != std::string_view::npos && at != std::string_view::npos && slash < at;
  if (!formed) return Refusal(fmt::format("--kerberos-principal: '{}' is not NAME/HOST@REALM", principal));
  const std::string_view name = principal.substr(0, slash);
  const std::string_view realm = principal.substr(at + 1);
  std::string instance(principal.substr(slash + 1, at - slash - 1));
  if (instance == kHostMark) {
    instance = host;
    std::transform(instance.begin(), instance.end(), instance.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  if (!IsPlain(name) || !IsPlain(instance) || !IsPlain(realm))
    return Refusal(fmt::format("--kerberos-principal: '{}' is not NAME/HOST@REALM", principal));
  return fmt::format("{}/{}@{}", name, instance, realm);
}

}  // namespace ratchet::kerberos
