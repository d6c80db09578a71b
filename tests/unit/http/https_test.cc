// HTTPS, and the gate in front of the handlers.
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/http/http_server.h"
#include "tests/support/http_client.h"
#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Millis kHttpsPatience{20'000};

class HttpsTest : public tls::TlsTest {
 protected:
  void Start(HttpTlsMode mode, std::shared_ptr<HttpGate> gate = nullptr) {
    tls::TlsOptions options;
    options.files = Files();
    auto opened = tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kMember, Millis(10));
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    process_ = *opened;
    HttpOptions http;
    http.tls_mode = mode;
    http.tls = process_;
    http.gate = std::move(gate);
    http.limits.request = Millis(500);
    http.stream_interval = Millis(10);
    server_ = std::make_unique<HttpServer>(http);
    server_->Handle("/", Lane::kFast, [](const HttpRequest& request) {
      const auto& peer = request.peer;
      const std::string name = peer.certificate == nullptr ? "none" : peer.certificate->common_names.front();
      return HttpResponse::Text(200, peer.address + (peer.encrypted ? " by TLS, " : " in clear, ") + name);
    });
    server_->Handle("/big", Lane::kFast, [](const HttpRequest&) {
      return HttpResponse::Of(200, "text/plain", std::string(4U << 20U, 'x'));
    });
    server_->Handle("/stream", Lane::kFast, [this](const HttpRequest&) {
      HttpResponse response;
      response.stream = [this]() -> std::optional<std::string> {
        ++ticks_;
        return "tick\n";
      };
      return response;
    });
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.error().ToString();
  }

  // The answer to one request by TLS, or the reason why there is none. `enough`: bytes after which it ends.
  std::string Get(const std::string& target, const tls::TlsFiles& files, const std::string& fields = "",
                  std::size_t enough = SIZE_MAX) {
    const auto session =
        Context(files, tls::ClientCertificates::kNeed, tls::TlsMaterial::Use::kClient)->Connect("127.0.0.1");
    const HttpClient socket(server_->port());
    std::string plain;
    Status fed = session->Begin();
    bool asked = false;
    const SystemClock clock;
    const TimePoint deadline = clock.Now() + kHttpsPatience;
    while (fed.ok() && plain.size() < enough && clock.Now() < deadline) {
      if (session->established() && !std::exchange(asked, true)) {
        const std::string request = "GET " + target + " HTTP/1.1\r\nConnection: close\r\n" + fields + "\r\n";
        const std::vector<std::string_view> parts{request};
        std::string sealed;
        fed = session->Seal(parts, sealed);
        socket.Send(sealed);
      }
      std::string out;
      if (fed.ok() && session->has_output()) fed = session->Seal({}, out);
      socket.Send(out);
      const std::string bytes = socket.Receive(1);
      if (bytes.empty()) break;
      fed = session->Feed(bytes, plain);
    }
    return fed.ok() ? plain : fed.error().message() + plain;
  }
  tls::TlsFiles Anonymous() const {
    tls::TlsFiles files;
    files.trust = directory_ + "/ca.pem";
    return files;
  }

  std::shared_ptr<tls::ProcessTls> process_;
  std::atomic<int> ticks_{0};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpsTest, ReadersAreServedWithAndWithoutACertificate) {
  Start(HttpTlsMode::kRequire);
  EXPECT_THAT(Get("/", Anonymous()), EndsWith("127.0.0.1 by TLS, none\n"));
  EXPECT_THAT(Get("/", Files({"alice", {}})), EndsWith("127.0.0.1 by TLS, alice\n"));
  const std::string big = Get("/big", Anonymous());
  EXPECT_THAT(big, StartsWith("HTTP/1.1 200 "));
  EXPECT_GT(big.size(), 4U << 20U);
}

TEST_F(HttpsTest, ACertificateOfAnotherAuthorityIsRefused) {
  Start(HttpTlsMode::kRequire);
  const auto other = tls::CertificateAuthority::Make("another authority", 10);
  ASSERT_TRUE(other.ok());
  tls::TlsFiles files = Anonymous();
  const auto issued = (*other)->Issue({"mallory", {}});
  ASSERT_TRUE(issued.ok());
  files.certificate = Write("mallory.pem", *issued);
  files.trust = Write("both.pem", authority_->CertificatePem() + (*other)->CertificatePem());
  EXPECT_THAT(Get("/", files), Not(HasSubstr("200 OK")));
}

TEST_F(HttpsTest, PlainTextGetsOneAnswerThatNamesTheReason) {
  Start(HttpTlsMode::kRequire);
  const std::string answer = Fetch(server_->port(), "/");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer, HasSubstr("https://"));
  EXPECT_THAT(answer, Not(HasSubstr("in clear")));
}

TEST_F(HttpsTest, ServingPlainTextAnywayIsNoticed) {
  const ScopedMutant mutant("http.plain_at_tls");
  Start(HttpTlsMode::kRequire);
  EXPECT_THAT(Fetch(server_->port(), "/"), HasSubstr("in clear"));
}

TEST_F(HttpsTest, BothKindsAreServedWhereBothAreAccepted) {
  Start(HttpTlsMode::kAccept);
  EXPECT_THAT(Get("/", Anonymous()), HasSubstr("by TLS"));
  EXPECT_THAT(Fetch(server_->port(), "/"), HasSubstr("in clear"));
}

TEST_F(HttpsTest, AHandshakeThatDoesNotEndIsClosed) {
  Start(HttpTlsMode::kRequire);
  const HttpClient half(server_->port());
  half.Send(std::string("\x16\x03\x01\x00\x40", 5));
  EXPECT_TRUE(half.Closed());
  EXPECT_THAT(Get("/", Anonymous()), HasSubstr("by TLS"));
}

TEST_F(HttpsTest, NewConnectionsUseTheNewCertificate) {
  Start(HttpTlsMode::kRequire);
  const std::uint64_t before = process_->changes();
  EXPECT_FALSE(Files({"member", {"a.example"}}).certificate.empty());  // written over the earlier one
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + kHttpsPatience;
  while (process_->changes() == before && clock.Now() < deadline) std::this_thread::yield();
  EXPECT_THAT(Get("/", Anonymous()), HasSubstr("TLS: "));  // the new certificate has not this address
}

// A gate that counts, with one login that is slow.
class OneLogin final : public HttpGate {
 public:
  bool IsQuick(const HttpRequest& request) const override { return !request.fields.contains("authorization"); }
  std::optional<HttpResponse> Admit(const HttpRequest& request) override {
    if (closed) return HttpResponse::Text(403, "closed");
    if (request.path == "/stream" || request.fields.contains("authorization")) return std::nullopt;
    return HttpResponse::Text(401, "log in");
  }
  std::atomic<bool> closed{false};
};

TEST_F(HttpsTest, TheGateDecidesBeforeTheHandler) {
  const auto gate = std::make_shared<OneLogin>();
  Start(HttpTlsMode::kRequire, gate);
  const std::string refused = Get("/", Anonymous());
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_THAT(refused, HasSubstr("WWW-Authenticate: Basic"));
  EXPECT_THAT(refused, Not(HasSubstr("by TLS")));
  EXPECT_THAT(Get("/", Anonymous(), "Authorization: Basic x\r\n"), HasSubstr("by TLS"));
}

TEST_F(HttpsTest, AStreamEndsWhenItsReaderMayNoLongerSeeIt) {
  const auto gate = std::make_shared<OneLogin>();
  Start(HttpTlsMode::kRequire, gate);
  std::atomic<bool> ended{false};
  std::thread reader([this, &ended] {
    EXPECT_THAT(Get("/stream", Anonymous()), HasSubstr("tick"));
    ended = true;
  });
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + kHttpsPatience;
  while (ticks_ < 3 && clock.Now() < deadline) std::this_thread::yield();
  EXPECT_FALSE(ended);
  gate->closed = true;
  reader.join();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace ratchet::http
