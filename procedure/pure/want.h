// What a procedure is to do once it is free (nothing of it running, no commit in flight), and the legal moves.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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
// Staying is legal: a wait may follow a wait.
[[nodiscard]] bool IsLegalMove(Want from, Want to);

}  // namespace ratchet::procedure
