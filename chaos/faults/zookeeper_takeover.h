// Ends another process's ZooKeeper session: the victim lives, but its session is over at once.
//
// A ZooKeeper server derives a session's password from its id alone (a java.util.Random seeded with the id and a fixed
// constant). So any client that knows the id can take the session over and close it. Blocking, a few round trips.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

[[nodiscard]] std::array<std::uint8_t, 16> SessionPassword(std::int64_t session);
// Returns kNotFound when the session is over already. `addresses` is "127.0.0.1:2181", or a list with commas, of which
// the first member that answers is used. `timeout` applies to each member.
[[nodiscard]] Status CloseSession(const std::string& addresses, std::int64_t session, Millis timeout);

}  // namespace ratchet::chaos
