// An authority, and processes' TLS made from its certificates.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tls/certificate_authority.h"
#include "common/tls/process_tls.h"

namespace ratchet::rpc {

class TestCertificates {
 public:
  TestCertificates()
      : directory_(std::filesystem::path(::testing::TempDir()) / ("ratchet_rpc_tls_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    authority_ = *tls::CertificateAuthority::Make("test authority", 10);
  }
  ~TestCertificates() { std::filesystem::remove_all(directory_); }
  TestCertificates(const TestCertificates&) = delete;
  TestCertificates& operator=(const TestCertificates&) = delete;

  // Certificates that are issued from now on are those of another authority.
  void ChangeAuthority() { authority_ = *tls::CertificateAuthority::Make("another authority", 10); }
  [[nodiscard]] std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = directory_ / name;
    std::ofstream(path + ".next", std::ios::binary) << text;
    EXPECT_EQ(::chmod((path + ".next").c_str(), 0600), 0);
    std::filesystem::rename(path + ".next", path);
    return path;
  }
  // `request` without a name: no certificate.
  [[nodiscard]] std::shared_ptr<tls::ProcessTls> Make(const std::string& accept, bool connect,
                                                      const tls::CertificateRequest& request = {
                                                          "member", {"127.0.0.1", "localhost"}}) {
    tls::TlsOptions options;
    options.accept = accept;
    options.connect = connect;
    options.files.trust = Write("ca" + std::to_string(++count_), authority_->CertificatePem());
    if (!request.common_name.empty())
      options.files.certificate = Write("own" + std::to_string(count_), *authority_->Issue(request));
    return Open(options, accept);
  }
  // A client's, with this certificate and its key.
  [[nodiscard]] std::shared_ptr<tls::ProcessTls> MakeOf(const std::string& certificate) {
    tls::TlsOptions options;
    options.connect = true;
    options.files.trust = Write("ca" + std::to_string(++count_), authority_->CertificatePem());
    options.files.certificate = Write("own" + std::to_string(count_), certificate);
    return Open(options, "off");
  }
  [[nodiscard]] const tls::CertificateAuthority& authority() const { return *authority_; }

 private:
  static std::shared_ptr<tls::ProcessTls> Open(const tls::TlsOptions& options, const std::string& accept) {
    const bool member = accept != "off";
    auto made =
        tls::ProcessTls::Open(options, member ? tls::TlsMaterial::Use::kMember : tls::TlsMaterial::Use::kClient);
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    return made.ok() ? *made : nullptr;
  }

  const std::filesystem::path directory_;
  std::unique_ptr<tls::CertificateAuthority> authority_;
  int count_ = 0;
};

}  // namespace ratchet::rpc
