// The states of a procedure as its record holds them, the legal moves between them, and the one function that makes a
// move. procedure/README.md draws the moves; StatesTest compares the drawing with the table. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ratchet::procedure {

// These numbers are stored. They are HBase's.
enum class ProcState : std::uint8_t {
  kInitializing = 1,    // being constructed; never stored by a live master
  kRunnable = 2,        // its step may run
  kWaiting = 3,         // waits for its children
  kWaitingTimeout = 4,  // waits for an event, a report or a time-out
  kRolledBack = 5,      // failed and undone: final
  kSuccess = 6,         // final for a root; a child's steps can still be undone with its tree
  kFailed = 7,          // failed; its tree is about to be undone
};
inline constexpr std::array kProcStates{ProcState::kInitializing,   ProcState::kRunnable,   ProcState::kWaiting,
                                        ProcState::kWaitingTimeout, ProcState::kRolledBack, ProcState::kSuccess,
                                        ProcState::kFailed};

[[nodiscard]] std::string_view ProcStateName(ProcState state);
[[nodiscard]] constexpr bool IsTerminal(ProcState state) {
  return state == ProcState::kRolledBack || state == ProcState::kSuccess;
}

// Staying in a state is legal: a step that waits may wait again.
[[nodiscard]] bool IsLegalMove(ProcState from, ProcState to);

// Sets state = to. An illegal move ends the process: only a defect of the framework can cause one, because a record
// that was read never decides a move (recovery accepts any state as the initial one).
void MoveTo(ProcState& state, ProcState to);

}  // namespace ratchet::procedure
