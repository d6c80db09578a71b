// What a region server exposes on /metrics: copies of its parts' counters (docs/metrics.md). No file is looked at, and
// no other process is asked.
#pragma once

#include <string>

namespace ratchet::regionserver {

struct ServerParts;

// Any thread, from the start of the RPC server to its stop.
[[nodiscard]] std::string ServerMetrics(const ServerParts& parts);

}  // namespace ratchet::regionserver
