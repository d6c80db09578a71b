// Bounds on the time for which a client may get no answer because of a fault. Pure.
//
// A gap may last as long as the fault is in effect, and behind its healing for a time that depends on the kind. Other
// faults that are in effect or settle meanwhile prolong it. The figures are those of docs/chaos.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// Longest gap after a fault was healed: a number of ZooKeeper session time-outs plus milliseconds.
struct GapBound {
  std::int64_t sessions = 0;
  std::int64_t more_ms = 0;
  [[nodiscard]] std::int64_t Millis(std::int64_t session_ms) const { return sessions * session_ms + more_ms; }
  bool operator==(const GapBound&) const = default;
};

[[nodiscard]] GapBound GapBoundOf(std::string_view kind);

// `factor` multiplies all bounds; 0: gaps are not judged. Faults that have not settled are left out, because the run
// has already failed.
[[nodiscard]] Finding JudgeGaps(const std::vector<FaultLine>& faults, std::int64_t session_ms, double factor = 1);

}  // namespace ratchet::chaos
