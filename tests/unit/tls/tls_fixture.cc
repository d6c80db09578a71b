#include "tests/unit/tls/tls_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ratchet::tls {

namespace fs = std::filesystem;

void TlsTest::SetUp() {
  directory_ = fs::path(testing::TempDir()) / ("ratchet_tls_" + std::to_string(::getpid()));
  fs::remove_all(directory_);
  fs::create_directories(directory_);
  auto made = CertificateAuthority::Make("test authority", 10);
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  authority_ = std::move(*made);
  Write("ca.pem", authority_->CertificatePem());
}

void TlsTest::TearDown() { fs::remove_all(directory_); }

std::string TlsTest::Write(const std::string& name, const std::string& text) const {
  std::string path = fs::path(directory_) / name;
  std::ofstream(path + ".next", std::ios::binary) << text;
  EXPECT_EQ(::chmod((path + ".next").c_str(), 0600), 0);
  fs::rename(path + ".next", path);
  return path;
}

std::string TlsTest::Issue(const std::string& name, const CertificateRequest& request) const {
  const auto text = authority_->Issue(request);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return Write(name, *text);
}

TlsFiles TlsTest::Files(const CertificateRequest& request) const {
  TlsFiles files;
  files.certificate = Issue(request.common_name + ".pem", request);
  files.trust = fs::path(directory_) / "ca.pem";
  return files;
}

std::shared_ptr<const TlsContext> TlsTest::Context(const TlsFiles& files, ClientCertificates clients,
                                                   TlsMaterial::Use use) const {
  auto material = TlsMaterial::Read(files, use);
  EXPECT_TRUE(material.ok()) << material.error().ToString();
  if (!material.ok()) return nullptr;
  auto context = TlsContext::Make(std::move(*material), clients);
  EXPECT_TRUE(context.ok()) << context.error().ToString();
  return context.ok() ? *context : nullptr;
}

Status Pair::Exchange() {
  while (client->has_output() || server->has_output()) {
    std::string bytes;
    RATCHET_TRY(client->Seal({}, bytes));
    RATCHET_TRY(server->Feed(bytes, from_client));
    bytes.clear();
    RATCHET_TRY(server->Seal({}, bytes));
    RATCHET_TRY(client->Feed(bytes, from_server));
  }
  return Ok();
}

Status Pair::Handshake() {
  RATCHET_TRY(client->Begin());
  return Exchange();
}

}  // namespace ratchet::tls
