#include "common/rpc/gssapi_sasl.h"

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kChoiceBytes = 4;  // without the user

Error BadLogin(std::string why) { return Error(Code::kInvalidArgument, std::move(why), std::string(exception::kSasl)); }

constexpr std::uint8_t BitOf(Protection protection) { return static_cast<std::uint8_t>(protection); }
constexpr std::uint8_t kLayers = BitOf(Protection::kIntegrity) | BitOf(Protection::kPrivacy);

std::string NamesOf(std::uint8_t bits) {
  std::string names;
  for (const Protection each : {Protection::kAuth, Protection::kIntegrity, Protection::kPrivacy})
    if ((bits & BitOf(each)) != 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", ProtectionName(each));
  return names;
}

// S157 (a recorded login is worthless): without the properties of `facts`, the bytes of a login could be sent again.
Status CheckFacts(const LoginFacts& facts) {
  if (!facts.mutual) return BadLogin("the client does not ask the server to prove itself (mutual authentication)");
  if (!facts.integrity) return BadLogin("the client asks for a login without integrity");
  if (facts.anonymous || facts.principal.empty()) return BadLogin("an anonymous principal is not a user");
  if (!facts.own_key && !RATCHET_MUTANT("rpc.any_session_key"))
    return BadLogin("the key of the session is not AES: allow AES for the client and for this service in the KDC");
  return Ok();
}

// The bits that the login can carry.
std::uint8_t Carried(const LoginFacts& facts) {
  std::uint8_t bits = BitOf(Protection::kAuth);
  if (facts.sequence) bits |= BitOf(Protection::kIntegrity);
  if (facts.sequence && facts.confidentiality) bits |= BitOf(Protection::kPrivacy);
  return bits;
}

}  // namespace

std::string_view ProtectionName(Protection protection) {
  switch (protection) {
    case Protection::kIntegrity: return "auth-int";
    case Protection::kPrivacy: return "auth-conf";
    case Protection::kAuth: break;
  }
  return "auth";
}

Result<std::optional<std::string>> GssapiServer::OnMessage(std::string_view bytes) {
  const Expects now = std::exchange(expects_, Expects::kNothing);
  if (bytes.size() > kMostGssapiMessage) return BadLogin(fmt::format("a message of {} bytes", bytes.size()));
  switch (now) {
    case Expects::kToken: return OnToken(bytes);
    case Expects::kEmpty:
      if (!bytes.empty()) return BadLogin("a message that is not empty after the last token");
      return Offer();
    case Expects::kChoice: RATCHET_TRY(OnChoice(bytes)); return std::optional<std::string>();
    case Expects::kNothing: break;
  }
  return BadLogin("a message after the end of the login");
}

Result<std::optional<std::string>> GssapiServer::OnToken(std::string_view bytes) {
  if (++steps_ > kMostGssapiSteps) return BadLogin("too many tokens");
  RATCHET_ASSIGN(SecurityContext::Step step, context_->Accept(bytes));
  if (!step.complete) {
    expects_ = Expects::kToken;
    return std::optional<std::string>(std::move(step.token));
  }
  RATCHET_ASSIGN(facts_, context_->Facts());
  RATCHET_TRY(CheckFacts(facts_));
  possible_ = offered_ & Carried(facts_);
  if (possible_ == 0)
    return BadLogin(fmt::format("the client's login carries {} only, and this process wants {}",
                                NamesOf(Carried(facts_)), NamesOf(offered_)));
  if (step.token.empty()) return Offer();
  expects_ = Expects::kEmpty;
  return std::optional<std::string>(std::move(step.token));
}

Result<std::optional<std::string>> GssapiServer::Offer() {
  const std::size_t most = (possible_ & kLayers) != 0 ? kMostUnitField : 0;
  std::string offer(1, static_cast<char>(possible_));
  for (const int shift : {16, 8, 0}) offer += static_cast<char>((most >> shift) & 0xFF);
  RATCHET_ASSIGN(std::string wrapped, context_->Wrap(offer, /*encrypt=*/false));
  expects_ = Expects::kChoice;
  return std::optional<std::string>(std::move(wrapped));
}

Status GssapiServer::OnChoice(std::string_view bytes) {
  RATCHET_ASSIGN(const SecurityContext::Plain plain, context_->Unwrap(bytes));
  const std::string_view choice = plain.bytes;
  if (choice.size() < kChoiceBytes) return BadLogin("the choice of the protection is too short");
  const auto byte = [choice](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(choice[at]));
  };
  const auto chosen = static_cast<std::uint8_t>(byte(0));
  const bool single = chosen != 0 && (chosen & (chosen - 1)) == 0;
  if ((!single || (chosen & possible_) == 0) && !RATCHET_MUTANT("rpc.any_protection"))
    return BadLogin(fmt::format("the client has chosen the protection {} and this process wants {}",
                                single && chosen <= kLayers ? NamesOf(chosen) : fmt::format("{:#x}", chosen),
                                NamesOf(possible_)));
  const std::string_view acts_for = choice.substr(kChoiceBytes);
  if (!acts_for.empty() && acts_for != facts_.principal)
    return BadLogin("the client names another user for this login; a proxy names it in the connection header");
  KerberosLogin login{facts_, static_cast<Protection>(chosen), byte(1) << 16 | byte(2) << 8 | byte(3)};
  if ((chosen & kLayers) != 0 && login.most_unit < kLeastUnit)
    return BadLogin(fmt::format("the client takes units of {} bytes only", login.most_unit));
  login_ = std::move(login);
  return Ok();
}

}  // namespace ratchet::rpc
