// Bytes of a peer that tries what no honest one sends: tests 19, 22 and 23 of identity.
#include <array>
#include <cstdint>
#include <vector>

#include "common/base/mutant.h"
#include "tests/unit/tls/raw_peer.h"
#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

using namespace std::string_literals;

constexpr std::uint16_t kGoodCipher = 0xC02F;  // ECDHE-RSA-AES128-GCM-SHA256
constexpr int kEmptyRecords = 10'000;
constexpr int kMostEmptyRecords = 64;

std::string Big16(std::size_t number) { return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)}; }
std::string Sized16(const std::string& text) { return Big16(text.size()) + text; }

// A hello of TLS 1.2 and earlier, with the groups and the signatures that servers need.
std::string Hello(std::uint16_t cipher, const std::string& compressions, std::uint16_t version = TLS1_2_VERSION) {
  const std::string groups = Big16(10) + Sized16(Sized16(Big16(0x001D) + Big16(0x0017)));
  const std::string signatures =
      Big16(13) + Sized16(Sized16(Big16(0x0804) + Big16(0x0401) + Big16(0x0403) + Big16(0x0201)));
  const std::string body = Big16(version) + std::string(32, 'r') + '\0' + Sized16(Big16(cipher)) +
                           static_cast<char>(compressions.size()) + compressions + Sized16(groups + signatures);
  const std::string message = "\x01\0"s + Sized16(body);
  return "\x16\x03\x01"s + Sized16(message);
}

class HostileBytesTest : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    const Identity root = Identity::FromPem(authority_->KeyPem(), authority_->CertificatePem());
    Handmade wanted;
    wanted.rsa_bits = 2'048;
    const Identity own = Make(wanted, &root);
    files_.certificate = Write("rsa.pem", own.KeyPem() + own.CertificatePem());
    files_.trust = directory_ + "/ca.pem";
  }
  // With a key of RSA, which all ciphers below would use.
  [[nodiscard]] std::shared_ptr<const TlsContext> Server() const { return Context(files_, ClientCertificates::kNone); }
  [[nodiscard]] static bool Takes(const TlsContext& server, const std::string& ciphers) {
    RawPeer client(RawPeer::Side::kClient, nullptr, [&](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      EXPECT_EQ(SSL_CTX_set_cipher_list(context, ciphers.c_str()), 1) << ciphers;
    });
    const auto session = server.Accept();
    return client.Handshake(*session).ok();
  }
  // The server's hello; empty: refused.
  [[nodiscard]] static std::string Answer(const TlsContext& server, const std::string& hello) {
    const auto session = server.Accept();
    std::string plain;
    const bool taken = session->Feed(hello, plain).ok();
    std::string bytes;
    static_cast<void>(session->Seal({}, bytes));
    EXPECT_EQ(taken, bytes.substr(0, 1) == "\x16");
    return taken ? bytes : "";
  }

  TlsFiles files_;
};

TEST_F(HostileBytesTest, WeakCiphersAreRefusedWithAKeyOfRsaToo) {
  const auto server = Server();
  for (const char* good : {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"})
    EXPECT_TRUE(Takes(*server, good)) << good;
  for (const char* weak : {"AES128-GCM-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA",
                           "DHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-NULL-SHA", "NULL-SHA256", "AES128-CCM8", "aNULL"})
    EXPECT_FALSE(Takes(*server, weak)) << weak;
}

TEST_F(HostileBytesTest, TakingWeakCiphersIsNoticed) {
  const ScopedMutant mutant("tls.any_strength");
  const auto server = Server();
  EXPECT_TRUE(Takes(*server, "AES128-SHA"));
  EXPECT_TRUE(Takes(*server, "ECDHE-RSA-AES128-SHA256"));
}

// Ciphers that OpenSSL no longer has, and compression.
TEST_F(HostileBytesTest, HellosOfOldClientsAreRefused) {
  const auto server = Server();
  const std::string good = Answer(*server, Hello(kGoodCipher, "\0"s));
  ASSERT_GT(good.size(), 46u);
  EXPECT_EQ(good[43], 0) << "a number of a session, which could be resumed";
  for (const int weak : {0x0003, 0x0004, 0x0005, 0x0008, 0x0009, 0x000A, 0x0011, 0x0018, 0x009E, 0xC011, 0xC012})
    EXPECT_EQ(Answer(*server, Hello(static_cast<std::uint16_t>(weak), "\0"s)), "") << weak;
  for (const std::uint16_t version : {SSL3_VERSION, TLS1_VERSION, TLS1_1_VERSION})
    EXPECT_EQ(Answer(*server, Hello(kGoodCipher, "\0"s, version)), "") << version;
  EXPECT_EQ(Answer(*server, Hello(kGoodCipher, "\1")), "") << "compression only";
  const std::string compression = Answer(*server, Hello(kGoodCipher, "\1\0"s));
  ASSERT_GT(compression.size(), 46u);
  EXPECT_EQ(compression.substr(44, 3), "\xC0\x2F\0"s) << "not compressed";
}

TEST_F(HostileBytesTest, EmptyRecordsEndTheConnection) {
  const auto server = Server();
  const auto taken = [](TlsSession& session, const std::function<std::string()>& next) {
    std::string plain;
    int count = 0;
    while (count < kEmptyRecords && session.Feed(next(), plain).ok()) ++count;
    EXPECT_EQ(plain, "");
    return count;
  };
  const auto before = server->Accept();
  EXPECT_LT(taken(*before, [] { return "\x16\x03\x01\0\0"s; }), kMostEmptyRecords);

  static std::string secret;
  RawPeer client(RawPeer::Side::kClient, nullptr, [](SSL_CTX* context) {
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_keylog_callback(context, [](const SSL*, const char* line) {
      if (std::string_view(line).starts_with("CLIENT_TRAFFIC_SECRET_0 ")) secret = line;
    });
  });
  const auto session = server->Accept();
  ASSERT_TRUE(client.Handshake(*session).ok());
  RecordSealer sealer(secret);
  std::string plain;
  const std::string empty = sealer.Seal("");
  const Status honest = session->Feed(empty + sealer.Seal("hello"), plain);
  ASSERT_TRUE(honest.ok()) << honest.error().ToString();
  EXPECT_EQ(plain, "hello");
  EXPECT_LT(taken(*session, [&] { return sealer.Seal(""); }), kMostEmptyRecords);
}

// A session that a client has kept does not replace the check of its certificate.
TEST_F(HostileBytesTest, ASessionOfARevokedClientIsNotResumed) {
  const Identity root = Identity::FromPem(authority_->KeyPem(), authority_->CertificatePem());
  const Shown shown{Make({}, &root), {}};
  files_.revoked = Write("revoked", *authority_->RevocationList({}, 1));
  const auto server = Context(files_);
  files_.revoked = Write("revoked", *authority_->RevocationList({shown.own.CertificatePem()}, 1));
  const auto later = Context(files_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto connect = [&](const TlsContext& context, SSL_SESSION* kept) {
      RawPeer client(RawPeer::Side::kClient, &shown,
                     [&](SSL_CTX* raw) { SSL_CTX_set_max_proto_version(raw, version); });
      if (kept != nullptr) SSL_set_session(client.ssl(), kept);
      const auto session = context.Accept();
      const Status shaken = client.Handshake(*session);
      EXPECT_EQ(SSL_session_reused(client.ssl()), 0);
      return std::pair(shaken.ok() ? "" : shaken.error().message(), SSL_get1_session(client.ssl()));
    };
    const auto [first, kept] = connect(*server, nullptr);
    EXPECT_EQ(first, "");
    const auto [again, same] = connect(*server, kept);
    EXPECT_EQ(again, "");
    const auto [refused, none] = connect(*later, kept);
    EXPECT_NE(refused.find("certificate revoked"), std::string::npos) << refused;
    for (SSL_SESSION* one : {kept, same, none}) SSL_SESSION_free(one);
  }
}

}  // namespace
}  // namespace ratchet::tls
