// Writes the metrics of a region server for /metrics from its parts' counters (docs/metrics.md). It reads no file and
// calls no other process.
#pragma once

#include <string>

namespace ratchet::regionserver {

struct ServerParts;

// Any thread, between the start and the stop of the RPC server.
[[nodiscard]] std::string ServerMetrics(const ServerParts& parts);

}  // namespace ratchet::regionserver
