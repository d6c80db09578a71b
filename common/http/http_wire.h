// HttpWire: the socket of one client, with the TLS session of a client that speaks TLS. The server's thread uses it.
//
// The first byte decides: 0x16 begins TLS, and no method of HTTP begins with it. Bounds: those of a TLS session, and
// kPieceBytes of sealed text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/http/http_request.h"
#include "common/io/file_descriptor.h"
#include "common/tls/process_tls.h"

namespace ratchet::http {

enum class HttpTlsMode : std::uint8_t {
  kOff,      // plain text only
  kAccept,   // both
  kRequire,  // TLS only; a client in plain text gets one answer with the reason
};

class HttpWire {
 public:
  enum class Got : std::uint8_t {
    kNothing,
    kBytes,
    kEnd,         // the client sends no more
    kPlainAtTls,  // plain text at a port with TLS only
  };

  // `tls`: null with kOff. `address`: of the client, numeric.
  HttpWire(int fd, HttpTlsMode mode, const tls::ProcessTls* tls, std::string address, Millis handshake);

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Reads once, and appends the plain bytes to `plain`.
  [[nodiscard]] Got Receive(std::string& plain, TimePoint now);
  // Sends from the beginning of `plain`, which continues to begin with the same bytes until they count as sent.
  // Returns how many bytes count as sent; negative: the connection has ended.
  [[nodiscard]] std::int64_t Send(std::string_view plain);
  // Bytes wait for the socket, beyond those of the response.
  [[nodiscard]] bool has_output() const;
  // The handshake takes too long, or the client's certificate has expired or was revoked.
  [[nodiscard]] bool HasToEnd(TimePoint now, std::int64_t wall_ms);
  // Announces the end to a client that speaks TLS, if its socket takes the bytes now.
  void Bye();
  [[nodiscard]] const HttpPeer& peer() const { return peer_; }

 private:
  enum class Kind : std::uint8_t { kUnknown, kPlain, kTls };
  [[nodiscard]] Got Open(std::string_view bytes, std::string& plain, TimePoint now);
  [[nodiscard]] bool Flush();
  void Learn();

  const io::FileDescriptor fd_;
  const HttpTlsMode mode_;
  const tls::ProcessTls* const tls_;
  const Millis handshake_;
  Kind kind_;
  HttpPeer peer_;
  std::unique_ptr<tls::TlsSession> session_;
  TimePoint handshake_ends_{};
  std::uint64_t judged_ = 0;     // ProcessTls::changes when the certificate was compared with the lists of revoked ones
  std::string sealed_;           // waits for the socket
  std::size_t sealed_sent_ = 0;  // of `sealed_`
  std::size_t sealed_of_ = 0;    // bytes of the response that are in `sealed_`
};

}  // namespace ratchet::http
