// A blocking HTTP client of a few lines, which may also misbehave.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/io/file_descriptor.h"

namespace ratchet::http {

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port);
  void Send(const std::string& bytes) const;
  // The bytes that came until the server closed, `enough` bytes had arrived, or the patience ended.
  [[nodiscard]] std::string Receive(std::size_t enough = SIZE_MAX, Millis patience = Millis{10'000}) const;
  // Waits until the server has closed; false when it has not within the patience.
  [[nodiscard]] bool Closed(Millis patience = Millis{10'000}) const;

 private:
  io::FileDescriptor fd_;
};

// One request on a connection of its own; the whole answer, head included.
[[nodiscard]] std::string Fetch(std::uint16_t port, const std::string& target);

}  // namespace ratchet::http
