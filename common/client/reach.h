// Tests an address from this side of the network when no process of the cluster answers: blocking, bounded, without a
// session or a protocol of its own.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::client {

// Connects to "host:port", sends `question`, and returns what comes until the other side closes (at most 4 KiB); with
// an empty question it only connects. kUnavailable: the name has no address, or the connection is refused; kTimeout: no
// connection, or no answer, within `patience`. The message gives the reason.
[[nodiscard]] Result<std::string> AskAddress(const std::string& address, const std::string& question, Millis patience);

// "serves as leader", "runs and does not serve: ...", "does not run: connection refused". `serves`: set to true if the
// member serves.
[[nodiscard]] std::string ZooKeeperMemberText(const std::string& address, Millis patience, bool& serves);

}  // namespace ratchet::client
