// Ending another process's ZooKeeper session: the victim lives, its session is over at once.
//
// A ZooKeeper server derives a session's password from its id alone (a java.util.Random seeded with the id and a fixed
// constant), so a session can be taken over, and closed, by any client that knows the id. Blocking, a few round trips.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

[[nodiscard]] std::array<std::uint8_t, 16> SessionPassword(std::int64_t session);
// kNotFound when the session is over already. `addresses` is "127.0.0.1:2181", or several with commas: any member that
// serves can do it, and the first that answers does. `timeout`: for each.
[[nodiscard]] Status CloseSession(const std::string& addresses, std::int64_t session, Millis timeout);

}  // namespace ratchet::chaos
