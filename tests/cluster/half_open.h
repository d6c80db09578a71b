// A flood of TLS handshakes that begin and do not continue, from many addresses of loopback.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ratchet::chaos {

// The beginning of a record with 512 bytes that does not end.
inline constexpr std::string_view kHalfHello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);

// A non-blocking connection from 127.1.x.y to this port of 127.0.0.1; -1: none.
inline int ConnectFrom(int x, int y, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr =
      htonl((127U << 24U) | (1U << 16U) | (static_cast<std::uint32_t>(x) << 8U) | static_cast<std::uint32_t>(y));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0;
  if (bound && (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 || errno == EINPROGRESS))
    return fd;
  ::close(fd);
  return -1;
}

// One thread keeps `each` half-open handshakes from each of `addresses` addresses at each port, and opens another one
// for each that is closed.
class HalfOpenFlood {
 public:
  HalfOpenFlood(std::vector<std::uint16_t> ports, int addresses, int each) {
    for (const std::uint16_t port : ports) {
      for (int address = 0; address < addresses; ++address) {
        for (int i = 0; i < each; ++i) places_.push_back({port, address, false});
      }
    }
    polled_.resize(places_.size(), pollfd{-1, 0, 0});
    thread_ = std::thread([this] { Run(); });
  }
  ~HalfOpenFlood() { Stop(); }
  HalfOpenFlood(const HalfOpenFlood&) = delete;
  HalfOpenFlood& operator=(const HalfOpenFlood&) = delete;

  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    for (pollfd& each : polled_) {
      if (each.fd >= 0) ::close(each.fd);
      each.fd = -1;
    }
  }
  // Handshakes that were begun, and that servers closed.
  [[nodiscard]] std::uint64_t begun() const { return begun_; }
  [[nodiscard]] std::uint64_t closed() const { return closed_; }

 private:
  struct Place {
    std::uint16_t port;
    int address;
    bool sent;
  };
  static constexpr int kOpenedAtOnce = 40;  // between two polls, 20 ms at most

  void Run() {
    while (!stopping_) {
      int opened = 0;
      for (std::size_t looked = 0; looked < places_.size() && opened < kOpenedAtOnce; ++looked) {
        const std::size_t i = next_++ % places_.size();
        if (polled_[i].fd >= 0) continue;
        ++opened;
        polled_[i] = {ConnectFrom(2, places_[i].address + 1, places_[i].port), POLLOUT, 0};
        places_[i].sent = false;
      }
      if (::poll(polled_.data(), polled_.size(), 20) <= 0) continue;
      for (std::size_t i = 0; i < places_.size(); ++i) Look(places_[i], polled_[i]);
    }
  }
  void Look(Place& place, pollfd& polled) {
    if (polled.fd < 0 || polled.revents == 0) return;
    if (!place.sent && (polled.revents & POLLOUT) != 0 && (polled.revents & (POLLERR | POLLHUP)) == 0) {
      place.sent = ::send(polled.fd, kHalfHello.data(), kHalfHello.size(), MSG_NOSIGNAL) > 0;
      polled.events = POLLIN;
      if (place.sent) ++begun_;
      return;
    }
    // An alert, the end, or an error: this handshake is over.
    if (place.sent) ++closed_;
    ::close(polled.fd);
    polled.fd = -1;
  }

  std::vector<Place> places_;
  std::vector<pollfd> polled_;  // as places_
  std::size_t next_ = 0;        // begins with this place
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> closed_{0};
  std::thread thread_;
};

// Sends a byte of a handshake each `between_ms`, until the server closes the connection. Returns the number of bytes
// that were sent; -1: more than `most`, or there was no connection.
inline int TrickleUntilClosed(std::uint16_t port, int between_ms, int most) {
  const int fd = ConnectFrom(3, 1, port);
  if (fd < 0) return -1;
  int sent = 0;
  pollfd polled{fd, POLLOUT, 0};
  bool open = ::poll(&polled, 1, 60'000) == 1 && (polled.revents & (POLLERR | POLLHUP)) == 0;
  if (!open) sent = -1;
  while (open && sent <= most) {
    const char byte = sent < static_cast<int>(kHalfHello.size()) ? kHalfHello[static_cast<std::size_t>(sent)] : '\0';
    open = ::send(fd, &byte, 1, MSG_NOSIGNAL) == 1;
    if (open) ++sent;
    polled = {fd, POLLIN, 0};
    open = open && ::poll(&polled, 1, between_ms) == 0;
  }
  ::close(fd);
  return open ? -1 : sent;
}

}  // namespace ratchet::chaos
