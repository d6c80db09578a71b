// Bytes of a peer that tries what no honest one sends: tests 19, 22 and 23 of identity.
#include <malloc.h>

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
constexpr int kFlood = 10'000;
constexpr int kMostEmptyRecords = 64;
constexpr std::size_t kMostAnswerBytes = 64;       // of one message that the peer sends in a flood
constexpr std::size_t kMostGrownBytes = 64 << 10;  // of the heap, by a flood

std::string Big16(std::size_t number) { return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)}; }
std::string Sized16(const std::string& text) { return Big16(text.size()) + text; }

// A hello of TLS 1.2 and earlier, with the groups and the signatures that servers need. `session`: its number. `more`:
// extensions.
std::string Hello(std::uint16_t cipher, const std::string& compressions, std::uint16_t version = TLS1_2_VERSION,
                  const std::string& session = {}, const std::string& more = {}) {
  const std::string groups = Big16(10) + Sized16(Sized16(Big16(0x001D) + Big16(0x0017)));
  const std::string signatures =
      Big16(13) + Sized16(Sized16(Big16(0x0804) + Big16(0x0401) + Big16(0x0403) + Big16(0x0201)));
  const std::string body = Big16(version) + std::string(32, 'r') + static_cast<char>(session.size()) + session +
                           Sized16(Big16(cipher)) + static_cast<char>(compressions.size()) + compressions +
                           Sized16(groups + signatures + more);
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
    while (count < kFlood && session.Feed(next(), plain).ok()) ++count;
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

// Feeds the same kind of message until the session ends. Returns how many it has taken, and checks what it keeps.
int TakenOfFlood(TlsSession& session, const std::function<std::string()>& next) {
  const std::size_t heap = ::mallinfo2().uordblks;
  std::string plain;
  int count = 0;
  while (count < kFlood && session.Feed(next(), plain).ok()) ++count;
  EXPECT_EQ(plain, "");
  if (RATCHET_MUTANT("tls.endless_key_updates")) return count;
  const std::size_t after = ::mallinfo2().uordblks;
  EXPECT_LT(after, heap + kMostGrownBytes) << "after " << count << " messages";
  std::string out;  // a peer that floods does not read
  static_cast<void>(session.Seal({}, out));
  EXPECT_LT(out.size(), (kMostKeyUpdates + 2) * kMostAnswerBytes);
  return count;
}

// The number of handshakes that a client may ask for on one connection of TLS 1.2.
int AttemptsTaken(const TlsContext& server) {
  RawPeer client(RawPeer::Side::kClient, nullptr, [](SSL_CTX* context) {
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context, "ECDHE-RSA-AES128-GCM-SHA256");
  });
  const auto session = server.Accept();
  EXPECT_TRUE(client.Handshake(*session).ok());
  RecordSealer12 sealer(client.ssl());
  const std::string hello = Hello(kGoodCipher, "\0"s).substr(SSL3_RT_HEADER_LENGTH);
  std::string plain;
  const Status honest = session->Feed(sealer.Seal(SSL3_RT_APPLICATION_DATA, "hello"), plain);
  EXPECT_TRUE(honest.ok()) << honest.error().ToString();
  EXPECT_EQ(plain, "hello");
  return TakenOfFlood(*session, [&] { return sealer.Seal(SSL3_RT_HANDSHAKE, hello); });
}

// Each attempt is refused by a warning, which waits for the peer, so their number has a bound.
TEST_F(HostileBytesTest, AttemptsToRenegotiateEndTheConnection) {
  EXPECT_EQ(AttemptsTaken(*Server()), static_cast<int>(kMostKeyUpdates));
}

// A false server, or one that was taken over, asks the client.
TEST_F(HostileBytesTest, RequestsOfAServerToRenegotiateEndTheConnection) {
  const Identity root = Identity::FromPem(authority_->KeyPem(), authority_->CertificatePem());
  const Shown shown{Make({}, &root), {}};
  RawPeer server(RawPeer::Side::kServer, &shown, [](SSL_CTX* context) {
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256");
  });
  const auto session = Server()->Connect("a.example");
  const Status shaken = server.Handshake(*session);
  ASSERT_TRUE(shaken.ok()) << shaken.error().ToString();
  RecordSealer12 sealer(server.ssl());
  std::string plain;
  ASSERT_TRUE(session->Feed(sealer.Seal(SSL3_RT_APPLICATION_DATA, "hello"), plain).ok());
  EXPECT_EQ(plain, "hello");
  EXPECT_LE(TakenOfFlood(*session, [&] { return sealer.Seal(SSL3_RT_HANDSHAKE, std::string(4, '\0')); }),
            static_cast<int>(kMostKeyUpdates));
}

TEST_F(HostileBytesTest, AFloodOfKeyUpdatesEndsTheConnection) {
  const auto server = Server();
  RawPeer client(RawPeer::Side::kClient, nullptr);
  const auto session = server->Accept();
  ASSERT_TRUE(client.Handshake(*session).ok());
  // The client does not read, so answers to its updates would pile up.
  const auto update = [&] {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(client.ssl());
    return client.Take();
  };
  EXPECT_EQ(TakenOfFlood(*session, update), static_cast<int>(kMostKeyUpdates));
}

TEST_F(HostileBytesTest, AttemptsWithoutEndAreNoticed) {
  const ScopedMutant mutant("tls.endless_key_updates");
  EXPECT_EQ(AttemptsTaken(*Server()), kFlood);
}

// A session or a ticket that a client has kept does not replace the check of its certificate.
class ResumptionTest : public HostileBytesTest {
 protected:
  void SetUp() override {
    HostileBytesTest::SetUp();
    const Identity root = Identity::FromPem(authority_->KeyPem(), authority_->CertificatePem());
    shown_ = {Make({}, &root), {}};
    files_.revoked = Write("revoked", *authority_->RevocationList({}, 1));
  }
  using Session = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;
  struct Connected {
    std::string why_refused;
    bool resumed = false;
    Session kept{nullptr, SSL_SESSION_free};
  };
  // `offered`: may be null.
  [[nodiscard]] Connected Connect(const TlsContext& server, int version, SSL_SESSION* offered) const {
    RawPeer client(RawPeer::Side::kClient, &shown_, [&](SSL_CTX* raw) { SSL_CTX_set_max_proto_version(raw, version); });
    if (offered != nullptr) SSL_set_session(client.ssl(), offered);
    const auto session = server.Accept();
    const Status shaken = client.Handshake(*session);
    Connected made;
    if (!shaken.ok()) made.why_refused = shaken.error().message();
    std::string bytes;  // in TLS 1.3 tickets follow the handshake
    static_cast<void>(session->Seal({}, bytes));
    client.Give(bytes);
    static_cast<void>(client.Read());
    made.resumed = SSL_session_reused(client.ssl()) == 1;
    made.kept.reset(SSL_get1_session(client.ssl()));
    SSL_set_shutdown(client.ssl(), SSL_SENT_SHUTDOWN);  // otherwise OpenSSL marks the session as not resumable
    return made;
  }
  [[nodiscard]] std::shared_ptr<const TlsContext> ResumingServer() const {
    const ScopedMutant mutant("tls.resume_sessions");
    return Context(files_);
  }

  Shown shown_;
};

TEST_F(ResumptionTest, OfferedSessionsAndTicketsAreNotResumed) {
  const auto resuming = ResumingServer();
  const auto server = Context(files_);
  files_.revoked = Write("revoked", *authority_->RevocationList({shown_.own.CertificatePem()}, 1));
  const auto later = Context(files_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    const Connected first = Connect(*server, version, nullptr);
    EXPECT_EQ(first.why_refused, "");
    EXPECT_EQ(SSL_SESSION_has_ticket(first.kept.get()), 0);
    // The session of a server that resumes is a real offer, also to another server.
    const Connected resumable = Connect(*resuming, version, nullptr);
    ASSERT_EQ(resumable.why_refused, "");
    ASSERT_EQ(SSL_SESSION_has_ticket(resumable.kept.get()), 1);
    ASSERT_EQ(SSL_SESSION_is_resumable(resumable.kept.get()), 1);
    for (SSL_SESSION* const offered : {first.kept.get(), resumable.kept.get()}) {
      const Connected again = Connect(*server, version, offered);
      EXPECT_EQ(again.why_refused, "");
      EXPECT_FALSE(again.resumed);
      const Connected refused = Connect(*later, version, offered);
      EXPECT_NE(refused.why_refused.find("certificate revoked"), std::string::npos) << refused.why_refused;
      EXPECT_FALSE(refused.resumed);
    }
  }
}

TEST_F(ResumptionTest, ResumingSessionsIsNoticed) {
  const auto resuming = ResumingServer();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Connected first = Connect(*resuming, version, nullptr);
    EXPECT_TRUE(Connect(*resuming, version, first.kept.get()).resumed) << version;
  }
}

// A hello with the number of a session and a ticket, which no server has given.
TEST_F(HostileBytesTest, InventedSessionsGetAWholeHandshake) {
  const auto server = Server();
  const std::string ticket = Big16(35) + Sized16(std::string(200, 't'));
  const std::string answer = Answer(*server, Hello(kGoodCipher, "\0"s, TLS1_2_VERSION, std::string(32, 's'), ticket));
  ASSERT_GT(answer.size(), 46u);
  EXPECT_EQ(answer[43], 0) << "no number of a session";
  EXPECT_NE(answer.find("member"), std::string::npos) << "the server's certificate is in a whole handshake only";
  EXPECT_EQ(answer.find(std::string(32, 's')), std::string::npos);
}

}  // namespace
}  // namespace ratchet::tls
