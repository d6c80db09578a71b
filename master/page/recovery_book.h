// How long the recoveries of crashed servers took, by phase, since this master began: from the history of each crash
// procedure at its end. Thread-safe; memory only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/latency.h"
#include "procedure/record/inspect.h"
#include "procedure/session/procedure_listener.h"

namespace ratchet::master {

// What one step of the crash procedure belongs to.
enum class RecoveryPhase : std::uint8_t { kFence, kSeal, kSplit, kAssign, kRetire };
inline constexpr std::array<std::string_view, 5> kRecoveryPhaseNames{"fence", "seal", "split", "assign", "retire"};
// By the step's name; steps that are not known count for the phase before them.
[[nodiscard]] RecoveryPhase PhaseOfStep(std::string_view step, RecoveryPhase before);

// Milliseconds of each phase: from the begin of its first step to the begin of the next phase's, `ended_ms` last.
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
