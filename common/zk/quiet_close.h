// Ends a session so that ZooKeeper's server closes the connection first. libzookeeper sends the request to close and
// shuts its socket at once. The server's answer then arrives at a closed socket, and the server logs a stack trace for
// each client that ends.
#pragma once

#include <cstdint>

#include <zookeeper/zookeeper.h>

namespace ratchet::zk {

// Calls zookeeper_close; a second descriptor keeps the connection open until the server has closed it, at most a tenth
// of a second. It reads and writes nothing, so even another session's socket to the same server would not be harmed.
[[nodiscard]] int CloseQuietly(zhandle_t* handle);

}  // namespace ratchet::zk
