// Opens connections and misuses them: none behaves like a connection of a client. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/prng.h"
#include "common/io/file_descriptor.h"

namespace ratchet::chaos {

class Flood {
 public:
  // Opens up to `count` connections to 127.0.0.1:port, which is the process's own port: a proxy would accept them
  // itself, and need two descriptors for each. Each connection sends nothing, a part of the handshake, a whole
  // handshake and a part of a frame, or a frame's length without the frame. Returns how many the other side's kernel
  // accepted.
  std::size_t Open(std::uint16_t port, std::size_t count, Prng& prng);
  // Returns how many the other side has closed so far.
  [[nodiscard]] std::size_t Refused();
  void Close() { connections_.clear(); }

 private:
  std::vector<io::FileDescriptor> connections_;
};

}  // namespace ratchet::chaos
