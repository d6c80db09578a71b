// Faults of the links between processes: partitions both ways and one way, slow, lossy, half-open and reset
// connections. The proxies' counters are the evidence.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

inline constexpr std::string_view kNeedsLinks =
    "a cluster of its own (proxies between its processes; no privileges, no iptables)";
// Returns nullopt if the target has proxies.
[[nodiscard]] std::optional<std::string> WhyNoLinks(Target& target);

// Returns null for other kinds.
[[nodiscard]] std::unique_ptr<Fault> MakeNetworkFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> NetworkFaultKinds();

}  // namespace ratchet::chaos
