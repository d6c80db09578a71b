// Certificates that must be refused, shown by either side, in each mode of a port: tests 4, 12, 19 and 24 to 27 of
// identity. OpenSSL itself makes the other side, so nothing but the session under test checks anything.
#include <array>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "common/tls/process_tls.h"
#include "tests/unit/tls/raw_peer.h"
#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

constexpr char kExpired[] = "certificate has expired";
constexpr char kNotYet[] = "certificate is not yet valid";
constexpr char kPurpose[] = "unsuitable certificate purpose";
constexpr char kNoIssuer[] = "unable to get local issuer certificate";
constexpr char kTooLarge[] = "excessive message size";
constexpr char kDigest[] = "CA signature digest algorithm too weak";
constexpr std::size_t kMostList = 32u << 10;
constexpr std::array<int, 2> kVersions{TLS1_2_VERSION, TLS1_3_VERSION};

struct Case {
  std::string name;
  Shown shown;
  std::string from_client;  // why a server refuses it; empty: it is taken
  std::string from_server;  // why a client refuses it
  std::string host = "a.example";
};

class HandshakeTest : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    root_ = Identity::FromPem(authority_->KeyPem(), authority_->CertificatePem());
    options_.connect = true;
    options_.files = Files();
  }

  [[nodiscard]] static Handmade Authority(const std::string& name) {
    Handmade wanted;
    wanted.common_name = name;
    wanted.usages = "";
    return wanted;
  }
  // A good certificate below authorities of which `change` makes one a bad one.
  [[nodiscard]] Shown Below(int authorities, const std::function<void(Handmade&)>& change = {}) const {
    Shown shown;
    Identity issuer = root_;
    for (int i = 0; i < authorities; ++i) {
      Handmade wanted = Authority("authority " + std::to_string(i));
      if (change && i == authorities / 2) change(wanted);
      issuer = Make(wanted, &issuer);
      shown.others.insert(shown.others.begin(), issuer.certificate);
    }
    shown.own = Make({}, &issuer);
    return shown;
  }
  [[nodiscard]] Shown With(const std::function<void(Handmade&)>& change) const {
    Handmade wanted;
    change(wanted);
    return {Make(wanted, &root_), {}};
  }
  // A list of about this size, of which only the first certificate is needed.
  [[nodiscard]] Shown LongList(std::size_t bytes) const {
    Shown shown{Make({}, &root_), {}};
    const Identity other = Make(Authority("other"), nullptr);
    const auto size = static_cast<std::size_t>(i2d_X509(other.certificate.get(), nullptr));
    shown.others.assign(bytes / size, other.certificate);
    return shown;
  }

  [[nodiscard]] std::vector<Case> WrongOnes() const {
    const Identity stranger = Make(Authority("another authority"), nullptr);
    Handmade superuser;
    superuser.common_name = "root";
    const Identity false_root = Make(superuser, &stranger);
    Handmade no_authority;
    no_authority.common_name = "no authority";
    const Identity leaf = Make(no_authority, &root_);
    const auto expired = [](Handmade& wanted) { wanted.from = -std::chrono::hours(48), wanted.until = -wanted.until; };
    return {
        {"expired", With(expired), kExpired, kExpired},
        {"not yet valid", With([](Handmade& wanted) { wanted.from = std::chrono::hours(1); }), kNotYet, kNotYet},
        {"a server's only", With([](Handmade& wanted) { wanted.usages = "serverAuth"; }), kPurpose, ""},
        {"a client's only", With([](Handmade& wanted) { wanted.usages = "clientAuth"; }), "", kPurpose},
        {"for mail", With([](Handmade& wanted) { wanted.usages = "emailProtection"; }), kPurpose, kPurpose},
        {"a superuser's, of another authority", {false_root, {}}, kNoIssuer, kNoIssuer},
        {"with the other authority", {false_root, {stranger.certificate}}, "self-signed", "self-signed"},
        {"self-signed", {Make(superuser, nullptr), {}}, "self-signed certificate", "self-signed certificate"},
        {"signed by a certificate", {Make({}, &leaf), {leaf.certificate}}, "invalid CA", "invalid CA"},
        {"expired authority", Below(1, expired), kExpired, kExpired},
        {"authority left out", {Below(1).own, {}}, kNoIssuer, kNoIssuer},
    };
  }
  [[nodiscard]] std::vector<Case> WeakOnes() const {
    const auto weak_key = [](Handmade& wanted) { wanted.rsa_bits = 1'024; };
    const auto weak_digest = [](Handmade& wanted) { wanted.sha1 = true; };
    return {
        {"RSA 1024", With(weak_key), "EE certificate key too weak", "EE certificate key too weak"},
        {"SHA-1", With(weak_digest), kDigest, kDigest},
        {"authority with RSA 1024", Below(2, weak_key), "CA certificate key too weak", "CA certificate key too weak"},
        {"authority with SHA-1", Below(2, weak_digest), kDigest, kDigest},
    };
  }
  [[nodiscard]] std::vector<Case> TooDeep() const {
    return {{"too deep", Below(kMostDepth + 1), "certificate chain too long", "certificate chain too long"}};
  }
  [[nodiscard]] std::vector<Case> TooLarge() const {
    const Shown names = With([](Handmade& wanted) {
      for (int i = 0; i < 10'000; ++i) wanted.names += ",DNS:host-" + std::to_string(i) + ".example";
    });
    Shown many = LongList(0);
    many.others.assign(199, many.own.certificate);
    return {
        {"33 KiB", LongList(kMostList + 1'024), kTooLarge, kTooLarge},
        {"200 certificates", many, kTooLarge, kTooLarge},
        {"1 MiB", LongList(1u << 20), kTooLarge, kTooLarge},
        {"10,000 names", names, kTooLarge, kTooLarge},
    };
  }
  [[nodiscard]] std::vector<Case> OtherHosts() const {
    const auto named = [this](const std::string& names, const std::string& common_name = "member") {
      return With([&](Handmade& wanted) { wanted.names = names, wanted.common_name = common_name; });
    };
    return {
        {"another host", named("DNS:b.example"), "", "hostname mismatch"},
        {"the common name", named("DNS:b.example", "a.example"), "", "hostname mismatch"},
        {"the common name alone", named("", "a.example"), "", "hostname mismatch"},
        {"a wildcard over a dot", named("DNS:*.example"), "", "hostname mismatch", "b.a.example"},
        {"a part", named("DNS:a*.example"), "", "hostname mismatch", "ab.example"},
        {"another address", named("IP:127.0.0.2"), "", "IP address mismatch", "127.0.0.1"},
        {"an address as a name", named("DNS:127.0.0.1"), "", "IP address mismatch", "127.0.0.1"},
        // The reverse name of this address, which is never asked for.
        {"the reverse name", named("DNS:localhost"), "", "IP address mismatch", "127.0.0.1"},
    };
  }
  [[nodiscard]] std::vector<Case> GoodOnes() const {
    Shown reversed = Below(3);
    std::swap(reversed.others.front(), reversed.others.back());
    return {
        {"good", With([](Handmade&) {}), "", ""},
        {"by address", With([](Handmade&) {}), "", "", "127.0.0.1"},
        {"RSA 2048", With([](Handmade& wanted) { wanted.rsa_bits = 2'048; }), "", ""},
        {"as deep as permitted", Below(kMostDepth), "", ""},
        {"in wrong order", reversed, "", ""},
        {"a list of 31 KiB", LongList(kMostList - 1'024), "", ""},
    };
  }

  // Shows the certificate to the session as its client or its server.
  static void Expect(const Case& shown, RawPeer::Side side, const TlsContext& context, bool asked) {
    for (const int version : kVersions) {
      RawPeer peer(side, &shown.shown, [&](SSL_CTX* raw) { SSL_CTX_set_max_proto_version(raw, version); });
      const bool client = side == RawPeer::Side::kClient;
      const auto session = client ? context.Accept() : context.Connect(shown.host);
      std::size_t taken = 0;
      const Status verdict = peer.Handshake(*session, &taken);
      const std::string why = verdict.ok() ? "" : verdict.error().message();
      const std::string wanted = !client ? shown.from_server : asked ? shown.from_client : "";
      SCOPED_TRACE((client ? "a client, " : "a server, ") + shown.name + ", " + std::to_string(version) + ": " + why);
      EXPECT_EQ(verdict.ok(), wanted.empty());
      EXPECT_NE(why.find(wanted), std::string::npos) << wanted;
      EXPECT_EQ(session->established(), wanted.empty());
      EXPECT_EQ(session->peer_certificate() != nullptr, wanted.empty() && asked);
      if (wanted == kTooLarge) {
        EXPECT_LE(taken, kMostList);
      }
      if (wanted.empty()) continue;
      // Who is refused gets nothing, whatever the owner of the session writes.
      const std::array<std::string_view, 1> secret{"a token"};
      std::string bytes;
      EXPECT_FALSE(session->Seal(secret, bytes).ok());
      peer.Give(bytes);
      EXPECT_EQ(peer.Read(), "");
    }
  }
  // In each mode of the port. Clients' certificates are judged wherever they are asked for.
  void ExpectEverywhere(const std::vector<Case>& cases) {
    for (const char* accept : {"accept", "require"}) {
      for (const char* clients : {"none", "want", "need"}) {
        SCOPED_TRACE(std::string(accept) + ", " + clients);
        options_.accept = accept;
        options_.client_certificates = clients;
        const auto tls = ProcessTls::Open(options_, TlsMaterial::Use::kMember);
        ASSERT_TRUE(tls.ok()) << tls.error().ToString();
        const bool asked = clients != std::string("none");
        for (const Case& one : cases) {
          Expect(one, RawPeer::Side::kClient, *(*tls)->context(), asked);
          Expect(one, RawPeer::Side::kServer, *(*tls)->context(), true);
        }
      }
    }
  }
  // With a mutant these are taken.
  void ExpectTaken(std::vector<Case> cases) {
    const auto context = Context(options_.files);
    for (Case& one : cases) {
      one.from_server = one.from_client = "";
      Expect(one, RawPeer::Side::kClient, *context, true);
      Expect(one, RawPeer::Side::kServer, *context, true);
    }
  }

  Identity root_;
  TlsOptions options_;
};

TEST_F(HandshakeTest, GoodCertificatesAreTakenInEachMode) { ExpectEverywhere(GoodOnes()); }

TEST_F(HandshakeTest, WrongCertificatesAreRefusedInEachMode) { ExpectEverywhere(WrongOnes()); }

TEST_F(HandshakeTest, ServersOfOtherHostsAreRefusedInEachMode) { ExpectEverywhere(OtherHosts()); }

TEST_F(HandshakeTest, WeakCertificatesAreRefusedInEachMode) { ExpectEverywhere(WeakOnes()); }

TEST_F(HandshakeTest, LongChainsAreRefusedInEachMode) { ExpectEverywhere(TooDeep()); }

TEST_F(HandshakeTest, LargeCertificateListsAreRefusedBeforeTheyArrive) { ExpectEverywhere(TooLarge()); }

TEST_F(HandshakeTest, TakingWeakCertificatesIsNoticed) {
  const ScopedMutant mutant("tls.any_strength");
  ExpectTaken(WeakOnes());
}

TEST_F(HandshakeTest, TakingLongChainsIsNoticed) {
  const ScopedMutant mutant("tls.any_depth");
  ExpectTaken(TooDeep());
}

TEST_F(HandshakeTest, TakingLargeCertificateListsIsNoticed) {
  const ScopedMutant mutant("tls.any_certificate_list");
  ExpectTaken({TooLarge().front()});
}

TEST_F(HandshakeTest, TakingAnyServerIsNoticed) {
  const ScopedMutant mutant("tls.any_server");
  const auto context = Context(options_.files);
  for (Case& one : WrongOnes()) {
    if (std::exchange(one.from_server, "").empty()) continue;
    Expect(one, RawPeer::Side::kServer, *context, false);  // it has no name even then
    Expect(one, RawPeer::Side::kClient, *context, true);
  }
}

}  // namespace
}  // namespace ratchet::tls
