// A TCP forwarder on the loopback whose target can be changed, like a name whose address changes. Connections are cut
// when it changes. Thread-safe.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/io/listen_sockets.h"

namespace ratchet::testing_support {

class TcpForwarder {
 public:
  // `port` 0: any free one. Without a target at first: connections are closed at once.
  explicit TcpForwarder(const std::string& listen_host = "127.0.0.1", std::uint16_t port = 0) {
    auto listening = io::ListenOn(listen_host, port);
    RATCHET_CHECK(listening.ok(), "{}", listening.error().ToString());
    listening_ = *std::move(listening);
    thread_ = std::thread([this] { Accept(); });
  }
  ~TcpForwarder() {
    stopping_ = true;
    thread_.join();
    Cut();
    for (std::thread& pump : pumps_) pump.join();
  }
  TcpForwarder(const TcpForwarder&) = delete;
  TcpForwarder& operator=(const TcpForwarder&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listening_.port; }
  // A port of 127.0.0.1; 0: nowhere.
  void LeadTo(std::uint16_t port) {
    target_ = port;
    Cut();
  }

 private:
  using Pair = std::pair<io::FileDescriptor, io::FileDescriptor>;

  void Cut() {
    const MutexLock lock(mutex_);
    for (const auto& weak : pairs_) {
      const auto pair = weak.lock();
      if (pair == nullptr) continue;
      ::shutdown(pair->first.get(), SHUT_RDWR);
      ::shutdown(pair->second.get(), SHUT_RDWR);
    }
    pairs_.clear();
  }

  void Accept() {
    while (!stopping_) {
      pollfd door{listening_.sockets.front().get(), POLLIN, 0};
      if (::poll(&door, 1, 20) <= 0) continue;
      io::FileDescriptor client(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC));
      const std::uint16_t target = target_;
      if (client.get() < 0 || target == 0) continue;
      io::FileDescriptor server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(target);
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (::connect(server.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) continue;
      const auto pair = std::make_shared<Pair>(std::move(client), std::move(server));
      const MutexLock lock(mutex_);
      pairs_.push_back(pair);
      pumps_.emplace_back([pair] { Pump(pair->first.get(), pair->second.get()); });
      pumps_.emplace_back([pair] { Pump(pair->second.get(), pair->first.get()); });
    }
  }

  static void Pump(int from, int to) {
    std::array<char, 16'384> bytes{};
    for (;;) {
      const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
      if (got <= 0) break;
      for (ssize_t sent = 0; sent < got;) {
        const ssize_t now = ::send(to, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
        if (now <= 0) break;
        sent += now;
      }
    }
    ::shutdown(from, SHUT_RDWR);
    ::shutdown(to, SHUT_RDWR);
  }

  io::ListenSockets listening_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint16_t> target_{0};
  Mutex mutex_;
  std::vector<std::weak_ptr<Pair>> pairs_ GUARDED_BY(mutex_);
  std::vector<std::thread> pumps_;  // the accepting thread's; the destructor's when that has ended
  std::thread thread_;
};

}  // namespace ratchet::testing_support
