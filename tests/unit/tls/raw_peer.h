// Certificates and peers made by hand with OpenSSL, to show what this project's own authority and sessions do not.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/tls/tls_session.h"

namespace ratchet::tls {

struct Identity {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> certificate;

  // From texts of a CertificateAuthority.
  static Identity FromPem(const std::string& key, const std::string& certificate);
  [[nodiscard]] std::string KeyPem() const;
  [[nodiscard]] std::string CertificatePem() const;
};

struct Handmade {
  std::string common_name = "member";
  unsigned rsa_bits = 0;  // 0: P-256
  bool sha1 = false;
  std::chrono::hours from{-1};  // relative to now
  std::chrono::hours until{24};
  std::string usages = "serverAuth,clientAuth";  // empty: it is an authority
  std::string names = "DNS:a.example,IP:127.0.0.1";
};
// `issuer` null: self-signed.
[[nodiscard]] Identity Make(const Handmade& wanted, const Identity* issuer);

// A peer shows its own certificate and others, in this order.
struct Shown {
  Identity own;
  std::vector<std::shared_ptr<X509>> others;
};

// One side of a connection with no check of its own, whose bytes the test moves.
class RawPeer {
 public:
  enum class Side { kClient, kServer };
  // `shown` null: no certificate.
  RawPeer(Side side, const Shown* shown, const std::function<void(SSL_CTX*)>& prepare = {});
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  [[nodiscard]] SSL* ssl() { return ssl_.get(); }
  [[nodiscard]] std::string Take();
  void Give(std::string_view bytes);
  // The plain bytes that have arrived.
  [[nodiscard]] std::string Read();
  // Returns the session's verdict. `taken`: bytes that the session took before it, in pieces of 256 bytes.
  Status Handshake(TlsSession& session, std::size_t* taken = nullptr);

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
};

// Seals records of TLS 1.3 (TLS_AES_128_GCM_SHA256) with the secret that a client's key log names, also empty ones.
class RecordSealer {
 public:
  // `line`: "CLIENT_TRAFFIC_SECRET_0 RANDOM SECRET", in hexadecimal.
  explicit RecordSealer(const std::string& line);
  [[nodiscard]] std::string Seal(std::string_view plain);

 private:
  std::string key_;
  std::string iv_;
  std::uint64_t next_ = 0;
};

// Seals records of TLS 1.2 (AES128-GCM-SHA256) as `ssl` does after its handshake, in which it has sent one record.
class RecordSealer12 {
 public:
  explicit RecordSealer12(SSL* ssl);
  // `type`: SSL3_RT_HANDSHAKE and kin.
  [[nodiscard]] std::string Seal(int type, std::string_view plain);

 private:
  std::string key_;
  std::string iv_;
  std::uint64_t next_ = 1;
};

}  // namespace ratchet::tls
