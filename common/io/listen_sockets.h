// Sockets that listen on every address of a name, both IPv4 and IPv6, at one port.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_descriptor.h"

namespace ratchet::io {

struct ListenSockets {
  std::vector<FileDescriptor> sockets;  // non-blocking; at least one
  std::vector<std::string> addresses;   // of the sockets, numeric
  std::uint16_t port = 0;
};

// `hosts`: names or addresses, split by commas; "0.0.0.0" and "::" are all addresses of a family, and "::" alone is
// those of both. `port` 0: any free one. Addresses of a name that this machine does not have are left out.
// kAlreadyExists: another process listens there. kFailedPrecondition: the system refuses it permanently. kUnavailable:
// a name has no address now, or none of its addresses is of this machine now; a retry may succeed. Waits for a look-up
// of names for a bounded time.
[[nodiscard]] Result<ListenSockets> ListenOn(const std::string& hosts, std::uint16_t port);

}  // namespace ratchet::io
