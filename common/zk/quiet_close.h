// Ends a session so that ZooKeeper's server has closed the connection first. libzookeeper sends the request to close
// and shuts its socket at once; the server's answer then meets a closed socket, and the server logs a stack trace for
// each client that ends.
#pragma once

#include <cstdint>

#include <zookeeper/zookeeper.h>

namespace ratchet::zk {

// zookeeper_close; a second descriptor keeps the connection open until the server has closed it, a tenth of a second at
// most. Nothing is read or written by it, so that another session's socket to the same server would come to no harm.
[[nodiscard]] int CloseQuietly(zhandle_t* handle);

}  // namespace ratchet::zk
