// One TLS connection without its socket: bytes from the peer in, plain bytes out; plain bytes in, bytes for the peer
// out.
//
// Thread-safe: one thread may feed while another one seals. Bytes for the peer are in the order of their records, so
// only one thread at a time may take and write them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/tls/peer_certificate.h"

namespace ratchet::tls {

class TlsMaterial;  // tls_files.h

inline constexpr std::size_t kRecordBytes = 16u << 10;         // largest plain text of one record
inline constexpr std::size_t kMostHandshakeBytes = 64u << 10;  // from the peer, before the connection is established
// Key updates and refused renegotiations of a peer; and one more for each kKeyUpdateEvery bytes.
inline constexpr std::size_t kMostKeyUpdates = 32;
inline constexpr std::size_t kKeyUpdateEvery = 1u << 20;
// Sessions of this process that keep OpenSSL's buffers (33 KiB a session) between their records, because to allocate
// them for each record takes a tenth of the record's time.
inline constexpr std::size_t kMostSessionsWithBuffers = 512;
// Label of the exporter that binds a proof of membership to its connection.
inline constexpr std::string_view kMemberExporter = "EXPORTER-ratchet-member";
inline constexpr std::size_t kExporterBytes = 32;

class TlsSession {
 public:
  // `ssl`: an SSL, which the session owns.
  explicit TlsSession(void* ssl);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Takes bytes from the peer, and appends the plain bytes to `plain`. An error ends the connection: its alert waits in
  // the output. Not to be called with more than a few records at once, because memory is used for them.
  [[nodiscard]] Status Feed(std::string_view bytes, std::string& plain);
  // The client's side begins.
  [[nodiscard]] Status Begin() { return FeedNothing(); }
  [[nodiscard]] bool established() const { return established_.load(std::memory_order_acquire); }
  // The peer has announced the end of its bytes.
  [[nodiscard]] bool peer_ended() const { return peer_ended_.load(std::memory_order_acquire); }

  // Seals the parts in records of up to kRecordBytes, several parts in one, and appends all bytes that wait for the
  // peer to `out`. Parts: only once the connection is established.
  [[nodiscard]] Status Seal(std::span<const std::string_view> parts, std::string& out);
  [[nodiscard]] bool has_output() const { return output_bytes_.load(std::memory_order_acquire) > 0; }
  // Announces the end of this side's bytes; false if it was announced before, or cannot be.
  bool EndWriting();
  // To be called now and then: a session that was not used since the last call frees its buffers.
  void Rest();
  // How many sessions of this process keep their buffers; for tests.
  [[nodiscard]] static std::size_t WithBuffers();

  // A secret that both ends of this connection have, and no relay between them. Empty before the connection is
  // established.
  [[nodiscard]] std::string MemberBinding() const;
  // When the peer's certificate expires; nullopt: it has shown none.
  [[nodiscard]] std::optional<std::time_t> peer_expires() const;
  // The names in the peer's certificate; null: it has shown none. Only a certificate that was verified has names.
  [[nodiscard]] std::shared_ptr<const PeerCertificate> peer_certificate() const;
  // True if a certificate of the peer's chain is on a list of revoked ones.
  [[nodiscard]] bool PeerIsRevoked(const TlsMaterial& material) const;
  // "TLSv1.3, TLS_AES_128_GCM_SHA256": for the log.
  [[nodiscard]] std::string Describe() const;

 private:
  struct Impl;
  [[nodiscard]] Status FeedNothing();
  [[nodiscard]] Status Advance(std::string& plain) REQUIRES(mutex_);

  mutable Mutex mutex_;
  const std::unique_ptr<Impl> impl_ PT_GUARDED_BY(mutex_);
  std::atomic<bool> established_{false};
  std::atomic<bool> peer_ended_{false};
  std::atomic<std::size_t> output_bytes_{0};
};

}  // namespace ratchet::tls
