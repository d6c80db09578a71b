// Durations of the recoveries of crashed servers, by phase, since the start of this master. They come from the step
// history of each crash procedure at its end. Thread-safe; memory only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/latency.h"
#include "procedure/api/procedure_listener.h"
#include "procedure/api/views.h"

namespace ratchet::master {

// Phase of a crash procedure's step.
enum class RecoveryPhase : std::uint8_t { kFence, kSeal, kSplit, kAssign, kRetire };
inline constexpr std::array<std::string_view, 5> kRecoveryPhaseNames{"fence", "seal", "split", "assign", "retire"};
// Returns the phase of a step by its name; unknown steps belong to the phase `before`.
[[nodiscard]] RecoveryPhase PhaseOfStep(std::string_view step, RecoveryPhase before);

// Returns the milliseconds of each phase: from the start of its first step to the start of the next phase, or
// `ended_ms`.
[[nodiscard]] std::array<std::int64_t, 5> PhaseTimes(const std::vector<procedure::StepHistoryEntry>& history,
                                                     std::int64_t ended_ms);

class RecoveryBook {
 public:
  void Note(const std::vector<procedure::StepHistoryEntry>& history, std::int64_t ended_ms);
  [[nodiscard]] LatencySnapshot Look(RecoveryPhase phase) const {
    return times_[static_cast<std::size_t>(phase)].Look();
  }

 private:
  std::array<Latency, 5> times_;
};

}  // namespace ratchet::master
