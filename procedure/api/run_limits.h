// Limits on the number of procedures of one resource that run at once: a setting of the executor.
#pragma once

#include <cstdint>

namespace ratchet::procedure {

// Maximum number of procedures of one resource that run a step at the same time; 0: no limit. Urgent ones are not
// limited. A region's procedures count for their table.
struct RunLimits {
  std::uint32_t per_table = 0;
  std::uint32_t per_server = 0;
  std::uint32_t per_peer = 0;
};

}  // namespace ratchet::procedure
