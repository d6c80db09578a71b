// Clients that have shaken hands, and then send messages of TLS that cost the server more than them: test 22 of
// identity. The server ends their connections, and other connections continue. tests/unit/tls has the bounds.
#include <atomic>
#include <functional>
#include <thread>

#include "tests/unit/rpc/raw_tls.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;

constexpr int kFloodMessages = 10'000;

// A client that reads nothing after its handshake.
class Flooder : public RawTlsClient {
 public:
  using RawTlsClient::RawTlsClient;
  // Returns how many messages were sent before the server's end of the connection.
  int Flood(const std::function<std::string()>& next) {
    int sent = 0;
    while (sent < kFloodMessages && Send(next())) ++sent;
    return sent;
  }
};

class TlsFloodTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.tls = files_.Make("require", false);
    options.setup_timeout = Millis(600'000);  // another reason to end the connection
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet,
                [](const CallContext&, const hbase::pb::GetRequest& request, std::string_view,
                   const Responder<hbase::pb::GetResponse>& responder) { responder.Reply({}, request.get().row()); });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    const std::string pem = *files_.authority().Issue({"flooder", {}});
    shown_ = {tls::Identity::FromPem(pem, pem), {}};
  }
  // Another client calls all the time, on one connection, while the flood runs.
  void ExpectEndedAlone(const std::function<void(Flooder&)>& flood, const std::function<void(SSL_CTX*)>& prepare) {
    std::atomic<bool> stops{false};
    std::atomic<int> calls{0};
    ChannelPoolOptions options;
    options.tls = files_.Make("off", true);
    ChannelPool pool(std::move(options));
    std::thread caller([&] {
      while (!stops) {
        const auto answer = pool.CallSync(methods::kGet, {"127.0.0.1", server_->port()}, MakeGet("r"));
        EXPECT_TRUE(answer.ok()) << answer.error().ToString();
        ++calls;
      }
    });
    EXPECT_TRUE(Eventually([&] { return calls.load() > 0; }));
    const std::uint64_t connections = server_->stats().connections_accepted;
    Flooder flooder(server_->port(), &shown_, prepare);
    EXPECT_TRUE(flooder.Shake());
    flood(flooder);
    EXPECT_TRUE(flooder.WaitClosed()) << "the server has taken " << kFloodMessages << " messages";
    EXPECT_TRUE(Eventually([this] { return server_->stats().connections_open == 1; }));
    const int before = calls.load();
    EXPECT_TRUE(Eventually([&] { return calls.load() > before + 10; }));
    stops = true;
    caller.join();
    EXPECT_EQ(server_->stats().connections_accepted, connections + 1) << "the other client has connected again";
  }

  TestCertificates files_;
  std::unique_ptr<RpcServer> server_;
  tls::Shown shown_;
};

TEST_F(TlsFloodTest, RenegotiationsEndTheirOwnConnectionOnly) {
  ExpectEndedAlone(
      [](Flooder& flooder) {
        tls::RecordSealer12 sealer(flooder.ssl());
        flooder.Flood([&] { return sealer.Seal(SSL3_RT_HANDSHAKE, "\1\0\0\0"s); });
      },
      [](SSL_CTX* context) {
        SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
        SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256");
      });
}

TEST_F(TlsFloodTest, KeyUpdatesEndTheirOwnConnectionOnly) {
  ExpectEndedAlone(
      [](Flooder& flooder) {
        flooder.Flood([&] {
          SSL_key_update(flooder.ssl(), SSL_KEY_UPDATE_REQUESTED);
          SSL_do_handshake(flooder.ssl());
          return flooder.peer().Take();
        });
      },
      {});
}

TEST_F(TlsFloodTest, EmptyRecordsEndTheirOwnConnectionOnly) {
  static std::string secret;
  ExpectEndedAlone(
      [](Flooder& flooder) {
        tls::RecordSealer sealer(secret);
        flooder.Flood([&] { return sealer.Seal(""); });
      },
      [](SSL_CTX* context) {
        SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
        SSL_CTX_set_keylog_callback(context, [](const SSL*, const char* line) {
          if (std::string_view(line).starts_with("CLIENT_TRAFFIC_SECRET_0 ")) secret = line;
        });
      });
}

}  // namespace
}  // namespace ratchet::rpc
