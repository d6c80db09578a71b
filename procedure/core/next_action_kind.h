// The next action of a procedure once it is free (no step of it running, no commit in flight), and the legal moves.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/state_moves.h"
#include "procedure/api/proc_state.h"

namespace ratchet::procedure {

enum class NextActionKind : std::uint8_t {
  kRun,       // its step
  kRunAgain,  // run its step, after all others (Yield)
  kChildren,  // wait for its children
  kEvent,     // wait for ticket, report or time-out
  kAsync,     // wait for asynchronous work
  kRetry,     // wait for the backoff
  kOperator,  // parked
  kUndo,      // failed: wait for its undo in the rollback of the tree
  kFinished,
};
inline constexpr std::array kAllNextActionKinds{
    NextActionKind::kRun,      NextActionKind::kRunAgain, NextActionKind::kChildren,
    NextActionKind::kEvent,    NextActionKind::kAsync,    NextActionKind::kRetry,
    NextActionKind::kOperator, NextActionKind::kUndo,     NextActionKind::kFinished};

[[nodiscard]] std::string_view NextActionKindName(NextActionKind kind);
// Returns the next action of a procedure that starts again from its record.
[[nodiscard]] NextActionKind NextActionKindByState(ProcState state);
// Any procedure can be parked, fail with its tree, or be ended by a bypass.
[[nodiscard]] constexpr StateSet<NextActionKind> MovesFrom(NextActionKind from) {
  using enum NextActionKind;
  switch (from) {
    case kRun: return {kRunAgain, kChildren, kEvent, kAsync, kRetry, kOperator, kUndo, kFinished};
    case kRunAgain:
    case kChildren:
    case kEvent:
    case kAsync:
    case kRetry: return {kRun, kOperator, kUndo, kFinished};
    case kOperator: return {kRun, kChildren, kUndo, kFinished};
    case kUndo: return {kOperator, kFinished};
    case kFinished: return {};
  }
  return {};
}
inline constexpr MoveTable kNextActionMoves(kAllNextActionKinds, &MovesFrom);
// Staying is legal: one wait may follow another.
[[nodiscard]] constexpr bool IsLegalMove(NextActionKind from, NextActionKind to) {
  return kNextActionMoves.MayGo(from, to);
}

}  // namespace ratchet::procedure
