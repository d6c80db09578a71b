// Makes the TLS sessions of a process from its certificate and the authorities that it trusts.
//
// TLS 1.2 and 1.3; ephemeral keys and AEAD ciphers only; no renegotiation, compression, tickets or session cache,
// because a resumed session would skip the checks of the certificate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/tls/tls_files.h"
#include "common/tls/tls_session.h"

namespace ratchet::tls {

// Certificates of clients: kNone: none is asked for; kWant: one may be shown, and must then be valid; kNeed: required.
enum class ClientCertificates : std::uint8_t { kNone, kWant, kNeed };

// Thread-safe, constant.
class TlsContext {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> Make(std::shared_ptr<const TlsMaterial> material,
                                                                      ClientCertificates clients);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // The server's side of a connection. Only with a certificate.
  [[nodiscard]] std::unique_ptr<TlsSession> Accept() const;
  // The client's side. `host`: the name or address that must be among the alternative names of the server's
  // certificate; no other name counts, and no name is looked up.
  [[nodiscard]] std::unique_ptr<TlsSession> Connect(const std::string& host) const;
  [[nodiscard]] const TlsMaterial& material() const { return *material_; }

 private:
  struct Impl;
  TlsContext(std::shared_ptr<const TlsMaterial> material, std::unique_ptr<Impl> impl);

  const std::shared_ptr<const TlsMaterial> material_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::tls
