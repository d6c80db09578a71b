#include "master/page/recovery_book.h"

#include <algorithm>

namespace ratchet::master {

RecoveryPhase PhaseOfStep(std::string_view step, RecoveryPhase before) {
  if (step == "START" || step == "FENCE") return RecoveryPhase::kFence;
  if (step == "SEAL") return RecoveryPhase::kSeal;
  if (step.starts_with("SPLIT_")) return RecoveryPhase::kSplit;
  if (step.starts_with("ASSIGN_")) return RecoveryPhase::kAssign;
  if (step == "CLAIM_REPLICATION_QUEUES" || step == "RETIRE_LOGS" || step == "FINISH") return RecoveryPhase::kRetire;
  return before;
}

std::array<std::int64_t, 5> PhaseTimes(const std::vector<procedure::StepHistoryEntry>& history, std::int64_t ended_ms) {
  std::array<std::int64_t, 5> times{};
  RecoveryPhase phase = RecoveryPhase::kFence;
  for (std::size_t i = 0; i < history.size(); ++i) {
    phase = PhaseOfStep(history[i].step_name, phase);
    const std::int64_t until = i + 1 < history.size() ? history[i + 1].begin_ms : ended_ms;
    times[static_cast<std::size_t>(phase)] += std::max<std::int64_t>(0, until - history[i].begin_ms);
  }
  return times;
}

void RecoveryBook::Note(const std::vector<procedure::StepHistoryEntry>& history, std::int64_t ended_ms) {
  if (history.empty()) return;
  const auto times = PhaseTimes(history, ended_ms);
  for (std::size_t i = 0; i < times.size(); ++i) times_[i].Note(static_cast<std::uint64_t>(times[i]) * 1000);
}

}  // namespace ratchet::master
