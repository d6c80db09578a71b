// Both ends of TLS on real sockets by OpenSSL alone, so that nothing but the process under test checks anything.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/io/connect_socket.h"
#include "common/io/file_descriptor.h"
#include "common/io/listen_sockets.h"
#include "tests/unit/tls/raw_peer.h"

namespace ratchet::rpc {

// One connection of a client that shows any certificate.
class RawTlsClient {
 public:
  // `shown` null: no certificate.
  RawTlsClient(std::uint16_t port, const tls::Shown* shown, const std::function<void(SSL_CTX*)>& prepare = {})
      : peer_(tls::RawPeer::Side::kClient, shown, prepare),
        socket_(std::move(io::ConnectTo("127.0.0.1", port, SystemClock().Now() + Millis(5'000)).socket)) {
    EXPECT_EQ(::fcntl(socket_.get(), F_SETFL, 0), 0);  // blocking
    const timeval patience{10, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  [[nodiscard]] SSL* ssl() { return peer_.ssl(); }
  [[nodiscard]] tls::RawPeer& peer() { return peer_; }
  // True at the end of this side's handshake. In TLS 1.3 the server judges the client's certificate after it.
  [[nodiscard]] bool Shake() {
    std::array<char, 4'096> bytes{};
    while (true) {
      const bool done = SSL_do_handshake(ssl()) == 1;
      const std::string out = peer_.Take();
      if (!out.empty() && !Send(out)) return false;
      if (done) return true;
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got <= 0) return false;
      peer_.Give({bytes.data(), static_cast<std::size_t>(got)});
    }
  }
  [[nodiscard]] bool Send(const std::string& bytes) {
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // True once the server has closed the connection; false after ten seconds.
  [[nodiscard]] bool WaitClosed() {
    std::array<char, 4'096> bytes{};
    ssize_t got = 0;
    while ((got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0)) > 0) continue;
    return got == 0 || errno == ECONNRESET;
  }

 private:
  tls::RawPeer peer_;
  const io::FileDescriptor socket_;
};

// A program at the address of a server that is none. It speaks TLS with any certificate, and keeps what its clients
// send. One thread of its own.
class FalseTlsServer {
 public:
  // Without a value: no certificate; it offers the ciphers that need none.
  explicit FalseTlsServer(std::optional<tls::Shown> shown)
      : shown_(std::move(shown)), listening_(*io::ListenOn("127.0.0.1", 0)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~FalseTlsServer() {
    stopping_ = true;
    thread_.join();
  }
  FalseTlsServer(const FalseTlsServer&) = delete;
  FalseTlsServer& operator=(const FalseTlsServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listening_.port; }
  // The bytes on the wire.
  [[nodiscard]] std::string seen() {
    const MutexLock lock(mutex_);
    return seen_;
  }
  // It has opened these bytes of them.
  [[nodiscard]] std::string opened() {
    const MutexLock lock(mutex_);
    return opened_;
  }
  // Clients that have accepted it as a server.
  [[nodiscard]] int established() const { return established_; }

 private:
  [[nodiscard]] static std::function<void(SSL_CTX*)> WithoutCertificate() {
    return [](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      EXPECT_EQ(SSL_CTX_set_cipher_list(context, "aNULL:@SECLEVEL=0"), 1);
    };
  }
  void Serve(const io::FileDescriptor& client) {
    tls::RawPeer peer(tls::RawPeer::Side::kServer, shown_.has_value() ? &*shown_ : nullptr,
                      shown_.has_value() ? std::function<void(SSL_CTX*)>() : WithoutCertificate());
    bool done = false;
    while (!stopping_) {
      pollfd ready{client.get(), POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      std::array<char, 4096> bytes{};
      const ssize_t got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
      if (got <= 0) return;
      const std::string_view part(bytes.data(), static_cast<std::size_t>(got));
      peer.Give(part);
      if (!done && SSL_do_handshake(peer.ssl()) == 1) {
        done = true;
        ++established_;
      }
      const MutexLock lock(mutex_);
      seen_ += part;
      if (done) opened_ += peer.Read();
      const std::string out = peer.Take();
      static_cast<void>(::send(client.get(), out.data(), out.size(), MSG_NOSIGNAL));
    }
  }
  void Run() {
    while (!stopping_) {
      pollfd door{listening_.sockets.front().get(), POLLIN, 0};
      if (::poll(&door, 1, 20) <= 0) continue;
      const io::FileDescriptor client(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() >= 0) Serve(client);
    }
  }

  const std::optional<tls::Shown> shown_;
  const io::ListenSockets listening_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> established_{0};
  Mutex mutex_;
  std::string seen_ GUARDED_BY(mutex_);
  std::string opened_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ratchet::rpc
