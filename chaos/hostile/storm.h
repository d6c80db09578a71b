// Storms of requests that are small to send and large to serve: one connection that sends what no honest client sends.
// Blocking; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/io/file_descriptor.h"

namespace ratchet::chaos {

// Frames as they go over the wire, length included. Pure.
// A request whose parameter is `count` empty messages of field 1.
[[nodiscard]] std::string ManyEmptyMessages(std::uint32_t call, std::string_view method, std::size_t count);
// A request with a gzip cell block that has `bytes` zeros when it is decompressed.
[[nodiscard]] std::string CompressedBomb(std::uint32_t call, std::string_view method, std::size_t bytes);
// Preamble and header of a connection to this service, with gzip for cell blocks.
[[nodiscard]] std::string GzipHello(std::string_view service);

class StormConnection {
 public:
  // Connects to 127.0.0.1:port. Returns false if the connection was not accepted.
  [[nodiscard]] bool Open(std::uint16_t port, std::string_view service);
  // Returns false if the other side closed the connection, or accepted no bytes for some seconds.
  [[nodiscard]] bool Send(std::string_view bytes);
  // Returns the number of answers received so far, whatever their content.
  [[nodiscard]] std::size_t Answers();
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  io::FileDescriptor fd_{-1};
  std::string received_;
  std::size_t answers_ = 0;
  bool closed_ = false;
};

}  // namespace ratchet::chaos
