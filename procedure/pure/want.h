// What a procedure is to do once it is free (nothing of it running, no commit in flight), and the legal moves.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/state_moves.h"
#include "procedure/author/proc_state.h"

namespace ratchet::procedure {

enum class Want : std::uint8_t {
  kRun,       // its step
  kRunAgain,  // its step, behind all others (Yield)
  kChildren,  // wait for its children
  kEvent,     // wait for ticket, report or time-out
  kOnce,      // wait for asynchronous work
  kRetry,     // wait for the backoff
  kOperator,  // parked
  kUndo,      // failed: wait for its turn in the undoing of the tree
  kFinished,
};
inline constexpr std::array kAllWants{Want::kRun,   Want::kRunAgain, Want::kChildren, Want::kEvent,   Want::kOnce,
                                      Want::kRetry, Want::kOperator, Want::kUndo,     Want::kFinished};

[[nodiscard]] std::string_view WantName(Want want);
// Of one that begins anew with what its record says.
[[nodiscard]] Want WantByState(ProcState state);
// Wherever a procedure stands it can be parked, fail with its tree, or be ended by a bypass.
[[nodiscard]] constexpr StateSet<Want> MovesFrom(Want from) {
  using enum Want;
  switch (from) {
    case kRun: return {kRunAgain, kChildren, kEvent, kOnce, kRetry, kOperator, kUndo, kFinished};
    case kRunAgain:
    case kChildren:
    case kEvent:
    case kOnce:
    case kRetry: return {kRun, kOperator, kUndo, kFinished};
    case kOperator: return {kRun, kChildren, kUndo, kFinished};
    case kUndo: return {kOperator, kFinished};
    case kFinished: return {};
  }
  return {};
}
inline constexpr MoveTable kWantMoves(kAllWants, &MovesFrom);
// Staying is legal: a wait may follow a wait.
[[nodiscard]] constexpr bool IsLegalMove(Want from, Want to) { return kWantMoves.MayGo(from, to); }

}  // namespace ratchet::procedure
