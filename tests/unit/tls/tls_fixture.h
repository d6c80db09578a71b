// Certificates made at run time, and two sessions that are connected without sockets.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "common/tls/certificate_authority.h"
#include "common/tls/tls_context.h"

namespace ratchet::tls {

class TlsTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Writes a file with mode 0600 and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;
  // A file with a certificate of the authority, and its key.
  std::string Issue(const std::string& name, const CertificateRequest& request) const;
  [[nodiscard]] TlsFiles Files(const CertificateRequest& request = {"member",
                                                                    {"127.0.0.1", "localhost", "a.example"}}) const;
  [[nodiscard]] std::shared_ptr<const TlsContext> Context(const TlsFiles& files,
                                                          ClientCertificates clients = ClientCertificates::kNeed,
                                                          TlsMaterial::Use use = TlsMaterial::Use::kMember) const;
  std::string directory_;
  std::unique_ptr<CertificateAuthority> authority_;
};

// Moves bytes between two sessions until none is left. Fails with the first error of either side.
struct Pair {
  std::unique_ptr<TlsSession> client;
  std::unique_ptr<TlsSession> server;
  std::string from_client;  // plain bytes that the server has received
  std::string from_server;

  [[nodiscard]] Status Exchange();
  [[nodiscard]] Status Handshake();
};

}  // namespace ratchet::tls
