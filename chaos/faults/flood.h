// Connections that are opened and not used as a client would use them. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/prng.h"
#include "common/io/file_descriptor.h"

namespace ratchet::chaos {

class Flood {
 public:
  // Opens up to `count` connections to 127.0.0.1:port, the process's own: a proxy between would take them, and need two
  // descriptors for each. Each says nothing, a part of the handshake, a whole handshake and a part of a
  // frame, or a frame's length without the frame. Returns how many the other side's kernel took.
  std::size_t Open(std::uint16_t port, std::size_t count, Prng& prng);
  // How many the other side has closed by now.
  [[nodiscard]] std::size_t Refused();
  void Close() { connections_.clear(); }

 private:
  std::vector<io::FileDescriptor> connections_;
};

}  // namespace ratchet::chaos
