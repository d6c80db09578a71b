// Decommissioned region servers, through the active master. As client::Admin: one nonce through all retries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/client/admin.h"

namespace ratchet::client {

// Each returns the pid of the procedure. Drain: marks the server, and moves its regions off; `and_stop`: also stops it.
[[nodiscard]] Result<std::uint64_t> Drain(Admin& admin, const ServerName& server, bool and_stop);
// Removes the mark of the server's address, and moves `encoded_regions` to the server there.
[[nodiscard]] Result<std::uint64_t> Undrain(Admin& admin, const ServerName& server,
                                            const std::vector<std::string>& encoded_regions);
[[nodiscard]] Result<std::vector<ServerName>> Drained(Admin& admin);

}  // namespace ratchet::client
