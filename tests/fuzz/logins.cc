#include <memory>

#include "common/base/check.h"
#include "common/rpc/gssapi_sasl.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/protected_stream.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/units.h"
#include "tests/support/fake_security.h"

namespace ratchet::fuzz {
namespace {

constexpr std::uint8_t kPrivate = static_cast<std::uint8_t>(rpc::Protection::kPrivacy);
constexpr std::size_t kMostUnit = 4'096;

// The second implementation of a protected stream: the texts of the leading units that are as agreed.
std::string TextsOf(std::string_view bytes) {
  std::string texts;
  for (int number = 1; const auto unit = CutUnit(bytes); ++number) {  // the choice was unit 0
    const std::size_t colon = unit->find(':');
    if (unit->size() > kMostUnit || colon == std::string_view::npos || unit->size() < colon + 3) break;
    const std::string_view text = unit->substr(colon + 1, unit->size() - colon - 3);
    if (*unit != FakeSecurity::WrapAs(text, /*encrypt=*/true, number)) break;
    texts += text;
  }
  return texts;
}

// As a server cuts a client's bytes: three messages of a login by Kerberos, and the protected units after it.
void FeedLogins(std::string_view bytes) {
  rpc::GssapiServer server(std::make_unique<FakeSecurity>(), kPrivate);
  while (!server.login().has_value()) {
    const auto message = CutUnit(bytes);
    if (!message.has_value()) return;
    const auto reply = server.OnMessage(*message);
    if (!reply.ok()) {
      RATCHET_CHECK(!server.OnMessage(*message).ok() && !server.login().has_value(),
                    "a login continues after a refusal");
      return;
    }
  }
  const rpc::KerberosLogin login = *server.login();
  RATCHET_CHECK(login.protection == rpc::Protection::kPrivacy, "a protection that was not offered");
  RATCHET_CHECK(login.most_unit >= rpc::kLeastUnit && login.most_unit <= rpc::kMostUnitField, "units of {} bytes",
                login.most_unit);
  auto stream = rpc::ProtectedStream::Make(server.TakeContext(), login);
  if (!stream.ok()) return;
  std::string plain;
  const Status opened = (*stream)->Open(bytes, kMostUnit, plain);
  const std::string texts = TextsOf(bytes);
  RATCHET_CHECK(texts.starts_with(plain) && (!opened.ok() || plain == texts), "{} bytes of {} were opened",
                plain.size(), texts.size());
  RATCHET_CHECK((*stream)->pending() <= bytes.size(), "{} bytes wait", (*stream)->pending());
}

std::vector<std::string> LoginSeeds() {
  const std::string begin = rpc::ClientUnit("AP-REQ") + rpc::ClientUnit({});
  const auto choice = [](std::string_view plain) { return rpc::ClientUnit(FakeSecurity::WrapAs(plain, false, 0)); };
  const std::string chosen = begin + choice(std::string("\x04\x01\x00\x00", 4));
  const std::string units = rpc::ClientUnit(FakeSecurity::WrapAs("a frame", true, 1)) +
                            rpc::ClientUnit(FakeSecurity::WrapAs("the next", true, 2));
  return {begin, chosen, chosen + units, begin + choice(std::string("\x01\x00\x00\x00", 4)) + units,
          begin + choice(std::string("\x04\x01\x00\x00", 4) + "alice@TEST") + units};
}

}  // namespace

const Target kLogins{"logins", FeedLogins, LoginSeeds};

}  // namespace ratchet::fuzz
