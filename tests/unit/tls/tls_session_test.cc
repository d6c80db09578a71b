#include "common/tls/tls_session.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

class TlsSessionTest : public TlsTest {
 protected:
  [[nodiscard]] Pair Connect(const std::string& host, ClientCertificates clients = ClientCertificates::kNeed) {
    const auto context = Context(Files(), clients);
    return {context->Connect(host), context->Accept(), {}, {}};
  }
};

std::string Pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

TEST_F(TlsSessionTest, CarriesPartsOfAllSizesInBothDirections) {
  Pair pair = Connect("localhost");
  ASSERT_TRUE(pair.Handshake().ok());
  ASSERT_TRUE(pair.client->established() && pair.server->established());
  EXPECT_EQ(pair.client->Describe().substr(0, 8), "TLSv1.3,");
  std::string expected;
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, kRecordBytes - 1, kRecordBytes, kRecordBytes + 1,
                                 3 * kRecordBytes + 17, std::size_t{1} << 20}) {
    const std::string first = Pattern(size);
    const std::string second = Pattern(77);
    const std::array<std::string_view, 3> parts{first, std::string_view(), second};
    std::string bytes;
    ASSERT_TRUE(pair.server->Seal(parts, bytes).ok());
    // One record for several small parts, and little more than the parts themselves.
    EXPECT_LE(bytes.size(), size + 77 + (size / kRecordBytes + 2) * 64);
    ASSERT_TRUE(pair.client->Feed(bytes, pair.from_server).ok());
    expected += first + second;
  }
  EXPECT_EQ(pair.from_server, expected);
  const std::array<std::string_view, 1> back{"back"};
  std::string bytes;
  ASSERT_TRUE(pair.client->Seal(back, bytes).ok());
  EXPECT_EQ(bytes.find("back"), std::string::npos);
  for (const char byte : bytes) ASSERT_TRUE(pair.server->Feed({&byte, 1}, pair.from_client).ok());
  EXPECT_EQ(pair.from_client, "back");
}

TEST_F(TlsSessionTest, ThreadsMayFeedAndSealAtTheSameTime) {
  Pair pair = Connect("127.0.0.1");
  ASSERT_TRUE(pair.Handshake().ok());
  constexpr int kRounds = 2'000;
  std::string to_server;
  for (int i = 0; i < kRounds; ++i) {
    const std::array<std::string_view, 1> parts{"request"};
    ASSERT_TRUE(pair.client->Seal(parts, to_server).ok());
  }
  std::string to_client;
  std::thread sealing([&] {
    const std::array<std::string_view, 1> parts{"answer"};
    for (int i = 0; i < kRounds; ++i) EXPECT_TRUE(pair.server->Seal(parts, to_client).ok());
  });
  for (std::size_t at = 0; at < to_server.size(); at += 64)
    EXPECT_TRUE(pair.server->Feed(std::string_view(to_server).substr(at, 64), pair.from_client).ok());
  sealing.join();
  EXPECT_TRUE(pair.client->Feed(to_client, pair.from_server).ok());
  EXPECT_EQ(pair.from_client.size(), kRounds * std::string_view("request").size());
  EXPECT_EQ(pair.from_server.size(), kRounds * std::string_view("answer").size());
}

// A session that is used keeps its buffers up to the bound, and frees them when it rests or ends. All of them work.
TEST_F(TlsSessionTest, NotMoreThanTheBoundKeepTheirBuffers) {
  const std::size_t before = TlsSession::WithBuffers();
  std::vector<Pair> pairs(kMostSessionsWithBuffers / 2 + 8);
  const auto send = [](Pair& pair) {
    std::string bytes;
    ASSERT_TRUE(pair.server->Seal(std::array<std::string_view, 1>{"answer"}, bytes).ok());
    ASSERT_TRUE(pair.client->Feed(bytes, pair.from_server).ok());
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = Connect("localhost");
    ASSERT_TRUE(pairs[i].Handshake().ok());
    EXPECT_LE(TlsSession::WithBuffers(), before + 2 * i);  // a handshake alone does not count
    send(pairs[i]);
    EXPECT_EQ(TlsSession::WithBuffers(), std::min(before + 2 * (i + 1), kMostSessionsWithBuffers));
  }
  Pair& first = pairs.front();
  first.server->Rest();  // used since the last one
  EXPECT_EQ(TlsSession::WithBuffers(), kMostSessionsWithBuffers);
  first.server->Rest();
  EXPECT_EQ(TlsSession::WithBuffers(), kMostSessionsWithBuffers - 1);
  send(pairs.back());
  EXPECT_EQ(TlsSession::WithBuffers(), kMostSessionsWithBuffers);
  send(first);
  EXPECT_EQ(first.from_server, "answeranswer");
  EXPECT_EQ(pairs.back().from_server, "answeranswer");
  pairs.clear();
  EXPECT_EQ(TlsSession::WithBuffers(), before);
}

// Half a record waits in the buffers of a session that rests.
TEST_F(TlsSessionTest, ARecordInPartsSurvivesARest) {
  Pair pair = Connect("localhost");
  ASSERT_TRUE(pair.Handshake().ok());
  std::string bytes;
  ASSERT_TRUE(pair.client->Seal(std::array<std::string_view, 1>{"request"}, bytes).ok());
  const std::string_view sealed = bytes;
  ASSERT_TRUE(pair.server->Feed(sealed.substr(0, 9), pair.from_client).ok());
  pair.server->Rest();
  pair.server->Rest();
  ASSERT_TRUE(pair.server->Feed(sealed.substr(9), pair.from_client).ok());
  EXPECT_EQ(pair.from_client, "request");
}

TEST_F(TlsSessionTest, BothEndsHaveTheSameBindingAndOtherConnectionsAnother) {
  Pair pair = Connect("localhost");
  EXPECT_EQ(pair.client->MemberBinding(), "");
  ASSERT_TRUE(pair.Handshake().ok());
  Pair other = Connect("localhost");
  ASSERT_TRUE(other.Handshake().ok());
  EXPECT_EQ(pair.client->MemberBinding().size(), kExporterBytes);
  EXPECT_EQ(pair.client->MemberBinding(), pair.server->MemberBinding());
  EXPECT_NE(pair.client->MemberBinding(), other.client->MemberBinding());
}

TEST_F(TlsSessionTest, EndOfBytesIsAnnounced) {
  Pair pair = Connect("localhost");
  ASSERT_TRUE(pair.Handshake().ok());
  EXPECT_TRUE(pair.server->EndWriting());
  EXPECT_FALSE(pair.server->EndWriting());
  ASSERT_TRUE(pair.Exchange().ok());
  EXPECT_TRUE(pair.client->peer_ended());
  const std::array<std::string_view, 1> late{"late"};
  std::string bytes;
  EXPECT_FALSE(pair.server->Seal(late, bytes).ok());
}

// A name counts only if it is an alternative name of the certificate.
TEST_F(TlsSessionTest, ServersOfAnotherNameAreRefused) {
  const auto context = Context(Files({"b.example", {"127.0.0.1", "*.c.example", "a.example"}}));
  for (const char* host : {"127.0.0.1", "a.example", "A.EXAMPLE", "x.c.example"}) {
    Pair pair{context->Connect(host), context->Accept(), {}, {}};
    EXPECT_TRUE(pair.Handshake().ok()) << host;
  }
  for (const char* host : {"b.example", "127.0.0.2", "::1", "x.y.c.example", "c.example", "localhost", "", "a"}) {
    Pair pair{context->Connect(host), context->Accept(), {}, {}};
    const Status shaken = pair.Handshake();
    ASSERT_FALSE(shaken.ok()) << host;
    EXPECT_NE(shaken.error().message().find("mismatch"), std::string::npos) << shaken.error().message();
    EXPECT_FALSE(pair.client->established());
  }
}

TEST_F(TlsSessionTest, AcceptingEveryNameIsNoticed) {
  const ScopedMutant mutant("tls.any_host_name");
  Pair pair = Connect("another.example");
  EXPECT_TRUE(pair.Handshake().ok());
}

TEST_F(TlsSessionTest, ClientsWithoutACertificateAreRefusedWhereOneIsNeeded) {
  TlsFiles bare;
  bare.trust = directory_ + "/ca.pem";
  const auto client = Context(bare, ClientCertificates::kNone, TlsMaterial::Use::kClient);
  for (const auto& [clients, accepted] : {std::pair{ClientCertificates::kNone, true},
                                          {ClientCertificates::kWant, true},
                                          {ClientCertificates::kNeed, false}}) {
    const auto server = Context(Files(), clients);
    Pair pair{client->Connect("localhost"), server->Accept(), {}, {}};
    EXPECT_EQ(pair.Handshake().ok(), accepted);
    EXPECT_EQ(pair.server->established(), accepted);
    EXPECT_FALSE(pair.server->peer_expires().has_value());
  }
  const ScopedMutant mutant("tls.no_client_certificate_needed");
  Pair pair{client->Connect("localhost"), Context(Files())->Accept(), {}, {}};
  EXPECT_TRUE(pair.Handshake().ok());
}

TEST_F(TlsSessionTest, OtherAuthoritiesAreRefusedOnBothSides) {
  const auto own = Context(Files());
  authority_ = std::move(*CertificateAuthority::Make("other authority", 10));
  Write("ca.pem", authority_->CertificatePem());
  const auto other = Context(Files());
  for (const auto& [client, server] : {std::pair{own, other}, {other, own}}) {
    Pair pair{client->Connect("localhost"), server->Accept(), {}, {}};
    EXPECT_FALSE(pair.Handshake().ok());
  }
}

TEST_F(TlsSessionTest, ChainsWithIntermediateAuthoritiesAreAccepted) {
  const std::string root = authority_->CertificatePem();
  for (int depth = 1; depth <= 3; ++depth) {
    authority_ = std::move(*authority_->MakeBelow("intermediate " + std::to_string(depth), 10));
    const auto context = Context(Files());
    Pair pair{context->Connect("localhost"), context->Accept(), {}, {}};
    EXPECT_TRUE(pair.Handshake().ok()) << depth;
  }
  EXPECT_NE(authority_->CertificatePem(), root);
}

// A client whose side is made by hand, to offer what this project's own clients do not.
class RawClient {
 public:
  explicit RawClient(const std::function<void(SSL_CTX*)>& prepare) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_security_level(context_, 0);
    prepare(context_);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_);
  }
  ~RawClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  [[nodiscard]] SSL* ssl() { return ssl_; }
  std::string Take() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes);
    std::string taken(bytes, static_cast<std::size_t>(size));
    static_cast<void>(BIO_reset(SSL_get_wbio(ssl_)));
    return taken;
  }
  void Give(std::string_view bytes) { BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size())); }
  Status Handshake(TlsSession& server) {
    std::string plain;
    for (int turn = 0; turn < 8 && (SSL_do_handshake(ssl_) != 1 || !server.established()); ++turn) {
      RATCHET_TRY(server.Feed(Take(), plain));
      std::string bytes;
      RATCHET_TRY(server.Seal({}, bytes));
      Give(bytes);
    }
    return server.established() ? Ok() : Status(Error(Code::kUnavailable, "no handshake"));
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
};

TEST_F(TlsSessionTest, OldVersionsAndWeakCiphersAreRefused) {
  const auto server = Context(Files(), ClientCertificates::kNone);
  const auto accepted = [&](const std::function<void(SSL_CTX*)>& prepare) {
    const auto session = server->Accept();
    return RawClient(prepare).Handshake(*session).ok();
  };
  const auto only12 = [](const char* ciphers) {
    return [ciphers](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      ASSERT_EQ(SSL_CTX_set_cipher_list(context, ciphers), 1) << ciphers;
    };
  };
  EXPECT_TRUE(accepted([](SSL_CTX*) {}));
  EXPECT_TRUE(accepted(only12("ECDHE-ECDSA-AES128-GCM-SHA256")));
  EXPECT_TRUE(accepted(only12("ECDHE-ECDSA-CHACHA20-POLY1305")));
  for (const char* weak : {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256", "NULL", "aNULL"})
    EXPECT_FALSE(accepted(only12(weak))) << weak;
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    EXPECT_FALSE(accepted([version](SSL_CTX* context) {
      SSL_CTX_set_min_proto_version(context, version);
      SSL_CTX_set_max_proto_version(context, version);
    }));
  }
}

TEST_F(TlsSessionTest, NoSessionIsResumedAndNoTicketIsGiven) {
  const auto server = Context(Files(), ClientCertificates::kNone);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    RawClient first([version](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, version); });
    const auto session = server->Accept();
    ASSERT_TRUE(first.Handshake(*session).ok());
    SSL_SESSION* const kept = SSL_get1_session(first.ssl());
    EXPECT_EQ(SSL_SESSION_has_ticket(kept), 0);
    RawClient second([version](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, version); });
    SSL_set_session(second.ssl(), kept);
    const auto again = server->Accept();
    EXPECT_TRUE(second.Handshake(*again).ok());
    EXPECT_EQ(SSL_session_reused(second.ssl()), 0);
    SSL_SESSION_free(kept);
  }
}

TEST_F(TlsSessionTest, RenegotiationIsRefused) {
  const auto server = Context(Files(), ClientCertificates::kNone);
  RawClient client([](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); });
  const auto session = server->Accept();
  ASSERT_TRUE(client.Handshake(*session).ok());
  SSL_renegotiate(client.ssl());
  SSL_do_handshake(client.ssl());
  std::string plain;
  const Status fed = session->Feed(client.Take(), plain);
  std::string bytes;
  static_cast<void>(session->Seal({}, bytes));
  client.Give(bytes);
  EXPECT_NE(SSL_do_handshake(client.ssl()), 1) << fed.ok();
  EXPECT_EQ(plain, "");
}

// Sends key updates until the server refuses. Returns the number that it took.
int KeyUpdatesTaken(RawClient& client, TlsSession& server, int most) {
  std::string plain;
  for (int i = 0; i < most; ++i) {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(client.ssl());
    if (!server.Feed(client.Take(), plain).ok()) return i;
    std::string bytes;
    if (!server.Seal({}, bytes).ok()) return i;
    client.Give(bytes);
    char byte = 0;
    SSL_read(client.ssl(), &byte, 1);
  }
  return most;
}

TEST_F(TlsSessionTest, TooManyKeyUpdatesEndTheConnection) {
  const auto server = Context(Files(), ClientCertificates::kNone);
  RawClient client([](SSL_CTX*) {});
  const auto session = server->Accept();
  ASSERT_TRUE(client.Handshake(*session).ok());
  EXPECT_EQ(KeyUpdatesTaken(client, *session, 1'000), static_cast<int>(kMostKeyUpdates));

  const ScopedMutant mutant("tls.endless_key_updates");
  RawClient other([](SSL_CTX*) {});
  const auto endless = server->Accept();
  ASSERT_TRUE(other.Handshake(*endless).ok());
  EXPECT_EQ(KeyUpdatesTaken(other, *endless, 1'000), 1'000);
}

// The head of a handshake message of the largest size that OpenSSL takes, and its content without end.
std::string EndlessHello() {
  std::string bytes;
  const std::string fragment(16'000, '\0');
  for (int i = 0; i < 8; ++i) {
    const std::string content = i == 0 ? std::string("\x01\x01\xf0\x00\x03\x03", 6) + fragment : fragment;
    bytes += std::string("\x16\x03\x01", 3) + static_cast<char>(content.size() >> 8) +
             static_cast<char>(content.size() & 0xff) + content;
  }
  return bytes;
}

TEST_F(TlsSessionTest, AnEndlessHandshakeIsRefusedAt64KiB) {
  const auto server = Context(Files(), ClientCertificates::kNone);
  const auto taken = [&] {
    const auto session = server->Accept();
    std::size_t count = 0;
    std::string plain;
    for (const char byte : EndlessHello()) {
      if (!session->Feed({&byte, 1}, plain).ok()) break;
      ++count;
    }
    return count;
  };
  EXPECT_LE(taken(), kMostHandshakeBytes);
  const ScopedMutant mutant("tls.endless_handshake");
  EXPECT_GT(taken(), kMostHandshakeBytes);
}

TEST_F(TlsSessionTest, OtherBytesThanTlsAreRefused) {
  const auto server = Context(Files());
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("HBas\0\x50 and a header", 19),
                                   "\x80\x2e\x01" + std::string(60, '\0')}) {
    const auto session = server->Accept();
    std::string plain;
    EXPECT_FALSE(session->Feed(bytes, plain).ok()) << bytes;
    EXPECT_FALSE(session->Feed("more", plain).ok());
    EXPECT_EQ(plain, "");
  }
}

}  // namespace
}  // namespace ratchet::tls
