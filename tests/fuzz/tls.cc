#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/rpc/member_proof.h"
#include "common/tls/certificate_authority.h"
#include "common/tls/tls_context.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/units.h"

namespace ratchet::fuzz {
namespace {

constexpr char kToServer = 0;  // the bytes are a client's first ones
constexpr char kToClient = 1;  // the bytes are a server's first ones
constexpr char kAfter = 2;     // units that the client seals, then bytes that are fed as they are
constexpr std::size_t kMostAnswer = 64u << 10;

std::shared_ptr<const tls::TlsContext> MakeContext() {
  const auto directory = std::filesystem::temp_directory_path() / ("ratchet_fuzz_tls_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  const auto authority = tls::CertificateAuthority::Make("fuzz authority", 1);
  RATCHET_CHECK(authority.ok(), "no authority");
  const auto certificate = (*authority)->Issue({"member", {"localhost"}});
  RATCHET_CHECK(certificate.ok(), "no certificate");
  tls::TlsFiles files;
  files.trust = directory / "ca.pem";
  files.certificate = directory / "own.pem";
  std::ofstream(files.trust) << (*authority)->CertificatePem();
  std::ofstream(files.certificate) << *certificate;
  std::filesystem::permissions(files.certificate,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  auto material = tls::TlsMaterial::Read(files, tls::TlsMaterial::Use::kMember);
  std::filesystem::remove_all(directory);
  RATCHET_CHECK(material.ok(), "{}", material.error().ToString());
  return tls::TlsContext::Make(std::move(*material), tls::ClientCertificates::kNone).value();
}

const tls::TlsContext& Context() {
  static const std::shared_ptr<const tls::TlsContext> context = MakeContext();
  return *context;
}

std::string Output(tls::TlsSession& session) {
  std::string bytes;
  static_cast<void>(session.Seal({}, bytes));
  return bytes;
}

// No bytes that were made without the other side's answers establish a connection.
void FeedFirst(tls::TlsSession& session, std::string_view bytes) {
  std::string plain;
  const Status fed = session.Feed(bytes, plain);
  RATCHET_CHECK(!session.established() && plain.empty(), "{} plain bytes without a handshake", plain.size());
  RATCHET_CHECK(session.peer_certificate() == nullptr, "a peer without a handshake has a name");
  RATCHET_CHECK(Output(session).size() < kMostAnswer, "a large answer to {} bytes", bytes.size());
  RATCHET_CHECK(fed.ok() || !session.Feed(bytes, plain).ok(), "a session continues after its failure");
}

struct Connection {
  std::unique_ptr<tls::TlsSession> client = Context().Connect("localhost");
  std::unique_ptr<tls::TlsSession> server = Context().Accept();

  Connection() {
    std::string plain;
    RATCHET_CHECK(client->Begin().ok(), "a client does not begin");
    while (client->has_output() || server->has_output()) {
      RATCHET_CHECK(server->Feed(Output(*client), plain).ok(), "a server refuses");
      RATCHET_CHECK(client->Feed(Output(*server), plain).ok(), "a client refuses");
    }
    RATCHET_CHECK(client->established() && server->established(), "no handshake");
  }
};

// The server gets what the client has sealed, once, and nothing else.
void FeedAfter(std::string_view bytes) {
  Connection connection;
  std::string sent;
  std::string sealed;
  while (const auto unit = CutUnit(bytes)) {
    const std::array<std::string_view, 1> parts{*unit};
    RATCHET_CHECK(connection.client->Seal(parts, sealed).ok(), "a client cannot seal");
    sent += *unit;
  }
  std::string plain;
  RATCHET_CHECK(connection.server->Feed(sealed, plain).ok() && plain == sent, "{} bytes of {}", plain.size(),
                sent.size());
  const std::string_view more = bytes.empty() ? std::string_view(sealed) : bytes;
  const Status fed = connection.server->Feed(more, plain);
  RATCHET_CHECK(plain == sent, "{} bytes that the client has not sealed", plain.size() - sent.size());
  RATCHET_CHECK(!bytes.empty() || sealed.empty() || !fed.ok(), "repeated records are taken");
  RATCHET_CHECK(fed.ok() || !connection.server->Feed({}, plain).ok(), "a session continues after its failure");
}

void FeedTls(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  switch (bytes.front() % 3) {
    case kToServer: return FeedFirst(*Context().Accept(), rest);
    case kToClient: {
      const auto client = Context().Connect("localhost");
      static_cast<void>(client->Begin());
      static_cast<void>(Output(*client));
      return FeedFirst(*client, rest);
    }
    default: return FeedAfter(rest);
  }
}

std::vector<std::string> TlsSeeds() {
  const auto client = Context().Connect("localhost");
  const auto server = Context().Accept();
  std::string plain;
  static_cast<void>(client->Begin());
  const std::string hello = Output(*client);
  static_cast<void>(server->Feed(hello, plain));
  const std::string answer = Output(*server);
  const std::string units = rpc::ClientUnit("a request") + rpc::ClientUnit(std::string(20'000, 'x'));
  const std::string record = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'r');
  return {kToServer + hello, kToClient + answer, kAfter + units + record,
          kAfter + units + std::string("\x15\x03\x03\x00\x02\x01\x00", 7)};
}

}  // namespace

const Target kTls{"tls", FeedTls, TlsSeeds, 4'000};  // each input is a handshake

}  // namespace ratchet::fuzz
