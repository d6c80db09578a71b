// Nonces belong to their user, S166 (others' objects stay unknown): another user's nonce with the same numbers is
// another nonce. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet::rights {

// Returns the group under which a nonce of this user is known. It is the same in every process and version, and no user
// can choose a group that gives the group of another one.
[[nodiscard]] std::uint64_t NonceGroupOf(std::string_view user, std::uint64_t group);

}  // namespace ratchet::rights
