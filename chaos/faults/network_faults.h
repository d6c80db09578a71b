// Faults of the links between processes: partitions both ways and one way, slow, lossy, half-open and reset
// connections. The proxies' counters are the evidence.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Returns null for other kinds.
[[nodiscard]] std::unique_ptr<Fault> MakeNetworkFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> NetworkFaultKinds();

}  // namespace ratchet::chaos
