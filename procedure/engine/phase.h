// The current activity of a procedure in memory, and the legal moves. ProcedureTree::SetPhase makes each move.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/state_moves.h"

namespace ratchet::procedure {

enum class Phase : std::uint8_t {
  kFree,        // between two activities: the part that frees it adds it to the ready list; never seen when the
                // lock is free
  kLockLine,    // waits in the lock manager
  kQueued,      // waits for a worker and has its locks
  kRunning,     // busy: a worker runs its step or undo, it stays in progress without a worker, or a report is
                // folded
  kCommitting,  // busy: a commit is in flight
  kWaiting,     // for children, event, async work, backoff, operator or its turn in the rollback: see ProcNode
  kFinished,    // a succeeded child leaves this phase when its tree is undone
};
inline constexpr std::array kPhases{Phase::kFree,       Phase::kLockLine, Phase::kQueued,  Phase::kRunning,
                                    Phase::kCommitting, Phase::kWaiting,  Phase::kFinished};

[[nodiscard]] constexpr bool IsBusy(Phase phase) { return phase == Phase::kRunning || phase == Phase::kCommitting; }
[[nodiscard]] std::string_view PhaseName(Phase phase);
[[nodiscard]] constexpr StateSet<Phase> MovesFrom(Phase from) {
  using enum Phase;
  switch (from) {
    case kFree: return {kLockLine, kQueued, kRunning, kCommitting, kWaiting, kFinished};
    case kLockLine: return {kFree, kWaiting};
    case kQueued: return {kFree, kRunning, kWaiting};
    case kRunning: return {kFree};
    case kCommitting: return {kFree, kWaiting};
    case kWaiting: return {kFree, kQueued, kCommitting};
    case kFinished: return {kFree, kQueued, kWaiting};
  }
  return {};
}
inline constexpr MoveTable kPhaseMoves(kPhases, &MovesFrom);
[[nodiscard]] constexpr bool IsLegalMove(Phase from, Phase to) { return kPhaseMoves.MayGo(from, to); }

}  // namespace ratchet::procedure
