#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "common/base/check.h"

namespace ratchet::http {

HttpClient::HttpClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  RATCHET_CHECK(connected == 0, "nothing listens on port {}", port);
}

void HttpClient::Send(const std::string& bytes) const {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t went = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (went <= 0) return;  // the server has closed: what it answered is there to be read
    sent += static_cast<std::size_t>(went);
  }
}

std::string HttpClient::Receive(std::size_t enough, Millis patience) const {
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + patience;
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < enough && clock.Now() < deadline) {
    pollfd polled{fd_.get(), POLLIN, 0};
    if (::poll(&polled, 1, 100) <= 0) continue;
    const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

bool HttpClient::Closed(Millis patience) const {
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + patience;
  std::array<char, 4096> piece{};
  while (clock.Now() < deadline) {
    pollfd polled{fd_.get(), POLLIN, 0};
    if (::poll(&polled, 1, 100) <= 0) continue;
    if (::recv(fd_.get(), piece.data(), piece.size(), 0) <= 0) return true;
  }
  return false;
}

std::string Fetch(std::uint16_t port, const std::string& target) {
  const HttpClient client(port);
  client.Send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.Receive();
}

}  // namespace ratchet::http
