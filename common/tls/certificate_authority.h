// Makes certificates for a cluster: an authority of its own, and certificates that it signs. For the command line
// (`ratchet certificates init`) and for tests; no server makes certificates.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::tls {

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> hosts;  // alternative names: DNS names and addresses
  std::chrono::seconds lifetime = std::chrono::hours(24) * 825;
  std::chrono::seconds age{0};  // valid since then; negative: not valid yet
  bool for_server = true;
  bool for_client = true;
  std::vector<std::string> uris{};               // further alternative names
  std::vector<std::string> more_common_names{};  // after `common_name`
};

class CertificateAuthority {
 public:
  // A new key (P-256) and its self-signed certificate, which is valid since `age` ago.
  [[nodiscard]] static Result<std::unique_ptr<CertificateAuthority>> Make(
      const std::string& common_name, int days, std::chrono::seconds age = std::chrono::seconds(0));
  // An authority that this one has signed.
  [[nodiscard]] Result<std::unique_ptr<CertificateAuthority>> MakeBelow(const std::string& common_name, int days) const;
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  // A new key (P-256), its certificate and the authorities between it and the root, in PEM and in this order.
  [[nodiscard]] Result<std::string> Issue(const CertificateRequest& request) const;
  // As Issue, in PKCS#12.
  [[nodiscard]] Result<std::string> IssuePkcs12(const CertificateRequest& request, const std::string& password) const;
  // A signed list that revokes these certificates of this authority; `certificates`: texts of Issue. `days`: until the
  // next list is due; negative: it is overdue.
  [[nodiscard]] Result<std::string> RevocationList(const std::vector<std::string>& certificates, int days) const;
  [[nodiscard]] std::string CertificatePem() const;
  [[nodiscard]] std::string KeyPem() const;

 private:
  struct Impl;
  explicit CertificateAuthority(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::tls
