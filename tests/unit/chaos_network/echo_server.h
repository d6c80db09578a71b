// Two ends of a connection for tests of the proxy: a server that sends back what it gets, and a client. Plain sockets.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace ratchet::chaos {

inline sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

class EchoServer {
 public:
  // 0: a free port.
  explicit EchoServer(std::uint16_t port = 0) : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    auto address = Loopback(port);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~EchoServer() {
    stopping_ = true;
    thread_.join();
    close(listener_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  void Run() {
    std::vector<pollfd> all{{listener_, POLLIN, 0}};
    while (!stopping_) {
      if (poll(all.data(), all.size(), 10) <= 0) continue;
      for (std::size_t i = all.size(); i-- > 1;) {
        if (all[i].revents == 0) continue;
        char buffer[65536];
        const ssize_t got = recv(all[i].fd, buffer, sizeof buffer, 0);
        if (got > 0) {
          received_ += static_cast<std::uint64_t>(got);
          if (send(all[i].fd, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got) continue;
        }
        close(all[i].fd);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (all[0].revents != 0) all.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
    }
    for (std::size_t i = 1; i < all.size(); ++i) close(all[i].fd);
  }

  const int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> received_{0};
  std::thread thread_;
};

class EchoClient {
 public:
  explicit EchoClient(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = Loopback(port);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~EchoClient() { close(fd_); }
  EchoClient(const EchoClient&) = delete;
  EchoClient& operator=(const EchoClient&) = delete;

  void Send(const std::string& text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Returns the bytes that come within `ms`, at most `size`.
  std::string Receive(std::size_t size, int ms) {
    std::string text;
    while (text.size() < size && !ended_) {
      pollfd one{fd_, POLLIN, 0};
      if (poll(&one, 1, ms) <= 0) break;
      char buffer[65536];
      const ssize_t got = recv(fd_, buffer, std::min(sizeof buffer, size - text.size()), 0);
      reset_ = got < 0;
      ended_ = got <= 0;
      if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool reset() const { return reset_; }

 private:
  const int fd_;
  bool ended_ = false;
  bool reset_ = false;
};

}  // namespace ratchet::chaos
