// Reads a process's certificate with its key, and the certificates that it trusts, from PEM or PKCS#12 files, and
// checks them. Blocks at the files.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::tls {

struct TlsFiles {
  std::string certificate;     // key and chain, the key's certificate first; empty: none
  std::string password;        // file with the password of `certificate`; empty: no password
  std::string trust;           // certificates of authorities
  std::string trust_password;  // file with the password of `trust`; empty: no password
  std::string revoked;         // lists of revoked certificates, in PEM; empty: none
  bool operator==(const TlsFiles&) const = default;
};

inline constexpr std::size_t kMostFileBytes = 1u << 20;
inline constexpr std::size_t kMostChain = 10;
inline constexpr std::size_t kMostRevocationLists = 100;
inline constexpr int kMostDepth = 6;  // authorities between a certificate and the trusted one

// The verified content of the files.
class TlsMaterial {
 public:
  // kMember: the certificate must be usable on both sides, because members are servers and clients.
  enum class Use { kMember, kClient };
  // Errors name the file and the remedy. Checks that the key belongs to the first certificate, that the chain leads to
  // a trusted authority, and that the certificate is valid now.
  [[nodiscard]] static Result<std::shared_ptr<const TlsMaterial>> Read(const TlsFiles& files, Use use);

  // OpenSSL's objects.
  struct Parts;
  explicit TlsMaterial(std::unique_ptr<Parts> parts);
  ~TlsMaterial();
  TlsMaterial(const TlsMaterial&) = delete;
  TlsMaterial& operator=(const TlsMaterial&) = delete;
  [[nodiscard]] const Parts& parts() const { return *parts_; }
  [[nodiscard]] bool has_certificate() const;
  // A sentence about a list of revoked certificates that should have been replaced by now; empty: none. An old list
  // stays in force.
  [[nodiscard]] std::string OverdueList() const;
  // "CN=a, serial 1f3a, until 2029-01-31": for the log.
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  const std::unique_ptr<Parts> parts_;
  std::string description_;
};

}  // namespace ratchet::tls
