// A program at the address of a server that is none: it accepts connections, answers the first bytes of each with
// `reply`, and keeps all bytes that it gets. One thread of its own.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "common/base/mutex.h"
#include "common/io/file_descriptor.h"
#include "common/io/listen_sockets.h"

namespace ratchet::rpc {

class FalseServer {
 public:
  explicit FalseServer(std::string reply) : reply_(std::move(reply)), listening_(*io::ListenOn("127.0.0.1", 0)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~FalseServer() {
    stopping_ = true;
    thread_.join();
  }
  FalseServer(const FalseServer&) = delete;
  FalseServer& operator=(const FalseServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listening_.port; }
  [[nodiscard]] std::string seen() {
    const MutexLock lock(mutex_);
    return seen_;
  }

 private:
  void Run() {
    while (!stopping_) {
      pollfd door{listening_.sockets.front().get(), POLLIN, 0};
      if (::poll(&door, 1, 20) <= 0) continue;
      const io::FileDescriptor client(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC));
      bool replied = false;
      while (client.get() >= 0 && !stopping_) {
        pollfd ready{client.get(), POLLIN, 0};
        if (::poll(&ready, 1, 20) <= 0) continue;
        std::array<char, 4096> bytes{};
        const ssize_t got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
        if (got <= 0) break;
        const MutexLock lock(mutex_);
        seen_.append(bytes.data(), static_cast<std::size_t>(got));
        if (!std::exchange(replied, true) && !reply_.empty())
          static_cast<void>(::send(client.get(), reply_.data(), reply_.size(), MSG_NOSIGNAL));
      }
    }
  }

  const std::string reply_;
  const io::ListenSockets listening_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::string seen_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ratchet::rpc
