// secure_bench: measures what security costs without a network: TLS handshakes a second of one core, the memory of an
// idle TLS connection, the time to seal and open what is sent, and the time of one check of rights. No options.
#include <malloc.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/rights/judge.h"
#include "common/tls/certificate_authority.h"
#include "common/tls/tls_context.h"

namespace {

using namespace ratchet;  // NOLINT(google-build-using-namespace): a program's main

template <class T>
T Take(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "the measurement failed: %s\n", result.error().ToString().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class TlsCosts {
 public:
  TlsCosts() : directory_(std::filesystem::temp_directory_path() / fmt::format("secure_bench-{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
    const auto authority = Take(tls::CertificateAuthority::Make("bench", 10));
    Write("ca.pem", authority->CertificatePem());
    Write("server.pem", Take(authority->Issue({"server", {"127.0.0.1"}})));
    Write("client.pem", Take(authority->Issue({"client", {}})));
    server_ = Context("server.pem");
    client_ = Context("client.pem");
  }
  ~TlsCosts() { std::filesystem::remove_all(directory_); }
  TlsCosts(const TlsCosts&) = delete;
  TlsCosts& operator=(const TlsCosts&) = delete;

  void Run() {
    constexpr int kHandshakes = 2'000;
    const double begin = ProcessorSeconds();
    double of_server = 0;
    for (int i = 0; i < kHandshakes; ++i) static_cast<void>(Connect(&of_server));
    const double both = ProcessorSeconds() - begin;
    std::printf(
        "handshake with a client's certificate: %.0f us of the server, %.0f us of both ends; %.0f a second and core\n",
        of_server / kHandshakes * 1e6, both / kHandshakes * 1e6, kHandshakes / of_server);

    constexpr int kIdle = 2'000;
    std::vector<std::unique_ptr<tls::TlsSession>> idle;
    idle.reserve(kIdle);
    const std::size_t before = ::mallinfo2().uordblks;  // a session's buffers are freed after the handshake
    for (int i = 0; i < kIdle; ++i) idle.push_back(Connect(nullptr).server);
    std::printf("idle session of the server: %.1f KiB\n",
                static_cast<double>(::mallinfo2().uordblks - before) / kIdle / 1024);
    idle.clear();
    Send(150, 200'000);
    Send(128 << 10, 2'000);
  }

 private:
  // Sends messages of `size` bytes from one end to the other.
  void Send(std::size_t size, int messages) const {
    const Pair pair = Connect(nullptr);
    const std::string message(size, 'x');
    double sealing = 0;
    double opening = 0;
    std::string plain;
    // 16 at once, because the clock takes time too.
    constexpr int kAtOnce = 16;
    std::vector<std::string> all(kAtOnce);
    for (int i = 0; i < messages; i += kAtOnce) {
      const double begin = ProcessorSeconds();
      for (std::string& one : all) {
        one.clear();
        if (!pair.server->Seal(std::array{std::string_view(message)}, one).ok()) std::exit(1);
      }
      const double middle = ProcessorSeconds();
      for (const std::string& one : all) {
        plain.clear();
        if (!pair.client->Feed(one, plain).ok() || plain.size() != size) std::exit(1);
      }
      sealing += middle - begin;
      opening += ProcessorSeconds() - middle;
    }
    std::printf("message of %zu bytes: %.2f us to seal, %.2f us to open\n", size, sealing / messages * 1e6,
                opening / messages * 1e6);
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    if (::chmod((directory_ / name).c_str(), 0600) != 0) std::exit(1);
  }
  [[nodiscard]] std::shared_ptr<const tls::TlsContext> Context(const std::string& certificate) const {
    tls::TlsFiles files;
    files.certificate = directory_ / certificate;
    files.trust = directory_ / "ca.pem";
    const auto use = certificate == "server.pem" ? tls::TlsMaterial::Use::kMember : tls::TlsMaterial::Use::kClient;
    return Take(tls::TlsContext::Make(Take(tls::TlsMaterial::Read(files, use)), tls::ClientCertificates::kNeed));
  }
  struct Pair {
    std::unique_ptr<tls::TlsSession> client;
    std::unique_ptr<tls::TlsSession> server;
  };
  // `of_server`: the server's processor time is added; may be null.
  [[nodiscard]] Pair Connect(double* of_server) const {
    auto client = client_->Connect("127.0.0.1");
    const double made = ProcessorSeconds();
    auto server = server_->Accept();
    if (of_server != nullptr) *of_server += ProcessorSeconds() - made;
    std::string plain;
    bool good = client->Begin().ok();
    while (good && (client->has_output() || server->has_output())) {
      std::string bytes;
      good = client->Seal({}, bytes).ok();
      const double begin = ProcessorSeconds();
      good = good && server->Feed(bytes, plain).ok();
      bytes.clear();
      good = good && server->Seal({}, bytes).ok();
      if (of_server != nullptr) *of_server += ProcessorSeconds() - begin;
      good = good && client->Feed(bytes, plain).ok();
    }
    if (!good || !server->established()) std::exit(1);
    return {std::move(client), std::move(server)};
  }

  const std::filesystem::path directory_;
  std::shared_ptr<const tls::TlsContext> server_;
  std::shared_ptr<const tls::TlsContext> client_;
};

void RightsCosts() {
  constexpr int kUsers = 1'000;
  constexpr int kChecks = 2'000'000;
  const auto users = std::make_shared<rights::Users>();
  users->Set(rights::Mode::kEnforce, Take(rights::Users::Parse("admin,@ops", "ops: olga\nreaders: user7, user8\n")));
  std::vector<rights::RightsEntry> entries;
  const TableName table("default", "t");
  for (int i = 0; i < kUsers; ++i)
    entries.push_back({fmt::format("user{}", i), rights::Scope::Table(table), rights::Action::kRead});
  rights::RightsHolder holder;
  if (!holder.Take(
          std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<rights::Scope>())))
    std::exit(1);
  const rights::Judge judge(holder, users);
  const rights::Demand demand = rights::Demand::Of(rights::Scope::Table(table), rights::Action::kRead);
  const double begin = ProcessorSeconds();
  int allowed = 0;
  for (int i = 0; i < kChecks; ++i) allowed += judge.Check({"user7", false}, demand, "Get").ok() ? 1 : 0;
  std::printf("check of a right on a table (%d users): %.3f us, %d of %d allowed\n", kUsers,
              (ProcessorSeconds() - begin) / kChecks * 1e6, allowed, kChecks);
}

}  // namespace

int main() {
  TlsCosts().Run();
  RightsCosts();
  return 0;
}
